// Package shared has what the host and the echo program both need.
package shared

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// Params are those of every request but the document's.
type Params struct {
	Line int    `json:"line"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

const empty = `{"jsonrpc":"2.0","id":100000,"method":"echo","params":{"line":12,"ok":true,"text":""}}`

// Text is as long as makes a whole request size bytes long.
func Text(size int) string {
	if size < len(empty) {
		return ""
	}
	return strings.Repeat("a", size-len(empty))
}

// Pipes are two ends of two pipes as one stream.
type Pipes struct {
	io.Reader
	io.WriteCloser
}

// Connect speaks over in and out with the headers of the language server protocol.
func Connect(in io.Reader, out io.WriteCloser, handler jsonrpc2.Handler) *jsonrpc2.Conn {
	stream := jsonrpc2.NewBufferedStream(Pipes{in, out}, jsonrpc2.VSCodeObjectCodec{})
	return jsonrpc2.NewConn(context.Background(), stream, jsonrpc2.AsyncHandler(handler))
}

// Echo answers with the params. Served, if there is one, is called after each answer.
type Echo struct {
	Served func(*jsonrpc2.Conn)
}

// Handle implements jsonrpc2.Handler.
func (e Echo) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var err error
	if req.Method == "echo" {
		err = conn.Reply(ctx, req.ID, req.Params)
	} else {
		err = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{
			Code: jsonrpc2.CodeMethodNotFound, Message: "no such method"})
	}
	if err != nil {
		Fail(err)
	}
	if e.Served != nil {
		e.Served(conn)
	}
}

// Call makes one request and checks its answer.
func Call(conn *jsonrpc2.Conn, text string) error {
	var answer Params
	err := conn.Call(context.Background(), "echo", Params{12, true, text}, &answer)
	if err == nil && len(answer.Text) != len(text) {
		err = fmt.Errorf("an answer has a text of %d bytes, not %d", len(answer.Text), len(text))
	}
	return err
}

// Flood makes count calls, inflight of them at a time: each in flight has a goroutine.
func Flood(conn *jsonrpc2.Conn, count, inflight int, text string) error {
	var group sync.WaitGroup
	left := int64(count)
	errs := make(chan error, inflight)
	for i := 0; i < inflight; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				if err := Call(conn, text); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// Fail ends the program with one line.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
