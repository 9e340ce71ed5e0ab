// Package load sends plants with many clients at once, and records the responses.
package load

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// An Outcome is what a client concludes from the response to a create.
type Outcome int

// The outcomes.
const (
	Created   Outcome = iota
	Identical         // stored before
	Different         // the id is taken by another plant
	Refused           // not stored
	Unknown           // stored or not
	Wrong             // a response that violates the contract
)

// A Response is the response to a create, or the error instead of one.
type Response struct {
	plantstore.Reply

	Err error
}

// Outcome returns the outcome of the create.
func (r Response) Outcome() Outcome {
	dial := new(net.OpError)
	switch {
	case errors.As(r.Err, &dial) && dial.Op == "dial":
		return Refused // no server has got it
	case r.Err != nil:
		return Unknown
	case r.Status == http.StatusOK:
		return Created
	case r.Status != http.StatusBadRequest:
		return Wrong
	case r.Identical():
		return Identical
	case r.Code == models.CodeConflict && strings.Contains(r.Message, "is different"):
		return Different
	case strings.Contains(r.Message, "was not stored"):
		return Refused
	case r.Code == models.CodeInternal && strings.Contains(r.Message, "the outcome is unknown"):
		return Unknown
	}
	return Wrong
}

// String returns the response for a message.
func (r Response) String() string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf("no response (%v)", r.Err)
	case r.Status == http.StatusOK:
		return "200"
	}
	return fmt.Sprintf("%d: error %d %q", r.Status, r.Code, r.Message)
}

// Each calls do for the numbers below n, by so many workers at once.
func Each(n, workers int, do func(i int)) {
	numbers := make(chan int, n)
	for i := range n {
		numbers <- i
	}
	close(numbers)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range numbers {
				do(i)
			}
		})
	}
	all.Wait()
}
