package main

import (
	"bytes"
	"os"
	"runtime"
	"testing"
)

func TestMemoryOf(t *testing.T) {
	t.Parallel()
	const much = 64 << 20
	block := bytes.Repeat([]byte{1}, much)
	got, err := memoryOf(os.Getpid())
	if err != nil || got < much {
		t.Errorf("%.0f with a block of %d: %v", got, much, err)
	}
	runtime.KeepAlive(block)
	if _, err := memoryOf(-1); err == nil {
		t.Error("there is no such process")
	}
}

// TestWatchMemory checks that the maximum memory is the maximum of all samples, not the last
// one.
func TestWatchMemory(t *testing.T) {
	t.Parallel()
	began, reads := make(chan struct{}), 0
	most := watchMemory(func() (float64, error) {
		if reads++; reads == 1 {
			close(began)
			return 5, nil
		}
		return 1, nil
	})
	<-began
	if got, err := most(); got != 5 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
