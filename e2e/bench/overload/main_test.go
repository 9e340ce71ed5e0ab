// Package overload measures the goodput of a server under ten times the load
// that it can take. From e2e:
//
//	go test -run '^$' -bench . -benchtime 1x -count 5 ./bench/overload
package overload

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}

// peakMemory returns the peak memory of the server in MB.
func peakMemory(b *testing.B, server *plantstore.Server) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.PID()))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kilobytes, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes * 1024 / 1e6
}

// cpu returns the processor time of the server in microseconds, from the clock of 100 ticks a
// second that Linux has for this.
func cpu(b *testing.B, server *plantstore.Server) float64 {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", server.PID()))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	fields := bytes.Fields(rest)
	user, err := strconv.ParseFloat(string(fields[11]), 64)
	if err != nil {
		b.Fatal(err)
	}
	system, err := strconv.ParseFloat(string(fields[12]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return (user + system) * 1e4
}
