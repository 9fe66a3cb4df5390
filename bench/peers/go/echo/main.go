package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"../shared"
	"github.com/sourcegraph/jsonrpc2"
)

func main() {
	echo := shared.Echo{}
	flood := make(chan error, 1)
	both := len(os.Args) == 5 && os.Args[1] == "both"
	if both {
		var numbers [3]int
		for i := range numbers {
			number, err := strconv.Atoi(os.Args[2+i])
			if err != nil {
				shared.Fail(err)
			}
			numbers[i] = number
		}
		var first sync.Once
		echo.Served = func(conn *jsonrpc2.Conn) {
			first.Do(func() {
				go func() {
					flood <- shared.Flood(conn, numbers[0], numbers[1], shared.Text(numbers[2]))
				}()
			})
		}
	} else if len(os.Args) > 1 {
		shared.Fail(fmt.Errorf("usage: echo [both COUNT INFLIGHT SIZE]"))
	}
	conn := shared.Connect(os.Stdin, os.Stdout, echo)
	<-conn.DisconnectNotify()
	if both {
		if err := <-flood; err != nil {
			shared.Fail(err)
		}
	}
}
