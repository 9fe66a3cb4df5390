package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"../shared"
	"github.com/sourcegraph/jsonrpc2"
)

func must(err error) {
	if err != nil {
		shared.Fail(err)
	}
}

func report(figures map[string]interface{}) {
	line, err := json.Marshal(figures)
	must(err)
	fmt.Println(string(line))
}

func percentile(samples []time.Duration, percent int) time.Duration {
	sort.Slice(samples, func(i, j int) bool { return samples[i] < samples[j] })
	return samples[(len(samples)-1)*percent/100]
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }
func millis(d time.Duration) float64 { return float64(d) / 1e6 }

func rssKiB(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(err)
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "VmRSS:") {
			kib, err := strconv.Atoi(strings.Fields(line)[1])
			must(err)
			return kib
		}
	}
	return -1
}

type side struct {
	command *exec.Cmd
	conn    *jsonrpc2.Conn
}

func start(echo []string, handler shared.Echo) side {
	command := exec.Command(echo[0], echo[1:]...)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	must(err)
	out, err := command.StdoutPipe()
	must(err)
	must(command.Start())
	return side{command, shared.Connect(out, in, handler)}
}

func (s side) end() {
	must(s.conn.Close())
	<-s.conn.DisconnectNotify()
	must(s.command.Wait())
}

func latency(count, size int, echo []string) {
	text := shared.Text(size)
	s := start(echo, shared.Echo{})
	for i := 0; i < count/10; i++ {
		must(shared.Call(s.conn, text))
	}
	samples := make([]time.Duration, count)
	begin := time.Now()
	for i := range samples {
		since := time.Now()
		must(shared.Call(s.conn, text))
		samples[i] = time.Since(since)
	}
	took := time.Since(begin)
	s.end()
	report(map[string]interface{}{"seconds": took.Seconds(),
		"p50_us": micros(percentile(samples, 50)), "p99_us": micros(percentile(samples, 99))})
}

func flood(count, inflight, size int, echo []string) {
	text := shared.Text(size)
	s := start(echo, shared.Echo{})
	must(shared.Call(s.conn, text))
	begin := time.Now()
	must(shared.Flood(s.conn, count, inflight, text))
	took := time.Since(begin)
	s.end()
	report(map[string]interface{}{"seconds": took.Seconds()})
}

// members is the number of members of an object or array.
func members(value interface{}) int {
	switch v := value.(type) {
	case map[string]interface{}:
		return len(v)
	case []interface{}:
		return len(v)
	}
	return -1
}

func document(file string, times int, echo []string) {
	content, err := os.ReadFile(file)
	must(err)
	var params interface{}
	must(json.Unmarshal(content, &params))
	s := start(echo, shared.Echo{})
	var sum time.Duration
	samples := make([]time.Duration, 0, times)
	for i := 0; i <= times; i++ {
		var answer interface{}
		begin := time.Now()
		must(s.conn.Call(context.Background(), "echo", params, &answer))
		took := time.Since(begin)
		same := members(answer) == members(params)
		if i == 0 {
			same = reflect.DeepEqual(answer, params)
		} else {
			samples = append(samples, took)
			sum += took
		}
		if !same {
			shared.Fail(errors.New("the answer is not the document"))
		}
	}
	s.end()
	report(map[string]interface{}{"seconds": sum.Seconds(), "ms": millis(percentile(samples, 50))})
}

func children(n, count, inflight, size int, echo []string) {
	text := shared.Text(size)
	sides := make([]side, n)
	for i := range sides {
		sides[i] = start(echo, shared.Echo{})
		must(shared.Call(sides[i].conn, text))
	}
	var group sync.WaitGroup
	begin := time.Now()
	for _, s := range sides {
		group.Add(1)
		go func(conn *jsonrpc2.Conn) {
			defer group.Done()
			must(shared.Flood(conn, count/n, inflight, text))
		}(s.conn)
	}
	group.Wait()
	took := time.Since(begin)
	rss := rssKiB(os.Getpid())
	for _, s := range sides {
		s.end()
	}
	report(map[string]interface{}{"seconds": took.Seconds(), "rss_kib": rss})
}

func starts(times int, echo []string) {
	text := shared.Text(100)
	samples := make([]time.Duration, times)
	idle := 0
	for i := range samples {
		begin := time.Now()
		s := start(echo, shared.Echo{})
		must(shared.Call(s.conn, text))
		samples[i] = time.Since(begin)
		if i == times-1 {
			time.Sleep(100 * time.Millisecond)
			idle = rssKiB(s.command.Process.Pid)
		}
		s.end()
	}
	report(map[string]interface{}{"ms": millis(percentile(samples, 50)), "idle_kib": idle})
}

func both(count, inflight, size int, echo []string) {
	text := shared.Text(size)
	var served sync.WaitGroup
	served.Add(count)
	s := start(echo, shared.Echo{Served: func(*jsonrpc2.Conn) { served.Done() }})
	must(shared.Call(s.conn, text))
	begin := time.Now()
	must(shared.Flood(s.conn, count, inflight, text))
	served.Wait()
	took := time.Since(begin)
	s.end()
	report(map[string]interface{}{"seconds": took.Seconds()})
}

var arguments = map[string]int{
	"latency": 2, "flood": 3, "document": 2, "children": 4, "start": 1, "both": 3}

func main() {
	usage := errors.New("usage: host WORKLOAD ARGUMENTS... -- ECHO ARGUMENTS...")
	if len(os.Args) < 2 {
		shared.Fail(usage)
	}
	workload := os.Args[1]
	count, known := arguments[workload]
	if !known || len(os.Args) < count+4 || os.Args[count+2] != "--" {
		shared.Fail(usage)
	}
	words, echo := os.Args[2:count+2], os.Args[count+3:]
	numbers := make([]int, count)
	for i, word := range words {
		if workload == "document" && i == 0 {
			continue
		}
		number, err := strconv.Atoi(word)
		must(err)
		numbers[i] = number
	}
	switch workload {
	case "latency":
		latency(numbers[0], numbers[1], echo)
	case "flood":
		flood(numbers[0], numbers[1], numbers[2], echo)
	case "document":
		document(words[0], numbers[1], echo)
	case "children":
		children(numbers[0], numbers[1], numbers[2], numbers[3], echo)
	case "start":
		starts(numbers[0], echo)
	case "both":
		both(numbers[0], numbers[1], numbers[2], echo)
	}
}
