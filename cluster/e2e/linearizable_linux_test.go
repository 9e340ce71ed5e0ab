package e2e

import (
	"math"
	"testing"

	"github.com/anishathalye/porcupine"

	"plantstore/e2e/internal/process"
)

// model is the model of one id: its state is the plant, or "" if there is none.
func model() porcupine.Model {
	return porcupine.Model{
		Partition: byID,
		Init:      func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			there, _ := state.(string)
			plant, _ := input.(string)
			switch output {
			case created:
				return there == "", plant
			case identical:
				return there == plant, there
			case different:
				return there != "" && there != plant, there
			case refused:
				return true, there
			}
			if there == "" { // unknown: it may happen, at any time from now on
				return true, plant
			}
			return true, there
		},
	}
}

func byID(history []porcupine.Operation) [][]porcupine.Operation {
	ids := map[int64][]porcupine.Operation{}
	for _, o := range history {
		id, _ := o.Metadata.(int64)
		ids[id] = append(ids[id], o)
	}
	var parts [][]porcupine.Operation
	for _, part := range ids {
		parts = append(parts, part)
	}
	return parts
}

// checkLinearizable checks that there is an order of the creates, each between its
// request and its response, that explains all responses. A create with an unknown
// outcome may take effect at any later time, or never.
func checkLinearizable(t testing.TB, history []operation) {
	t.Helper()
	var operations []porcupine.Operation
	for n, o := range history {
		stop := int64(o.stop)
		if o.outcome == unknown {
			stop = math.MaxInt64
		}
		operations = append(operations, porcupine.Operation{
			ClientId: n, Input: o.plant, Output: o.outcome, Call: int64(o.start), Return: stop, Metadata: o.id,
		})
	}
	if result := porcupine.CheckOperationsTimeout(model(), operations, process.Patience); result != porcupine.Ok {
		t.Errorf("the history of %d operations is not linearizable: %v", len(history), result)
		for _, part := range byID(operations) {
			if !porcupine.CheckOperations(model(), part) {
				t.Errorf("the history of id %v: %+v", part[0].Metadata, part)
				return
			}
		}
	}
}

// TestModel checks the model itself with correct and incorrect histories.
func TestModel(t *testing.T) {
	t.Parallel()
	op := func(plant string, out outcome, start, stop int64) porcupine.Operation {
		return porcupine.Operation{Input: plant, Output: out, Call: start, Return: stop, Metadata: int64(1)}
	}
	const never = math.MaxInt64
	for name, test := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"one after the other":     {[]porcupine.Operation{op("a", created, 0, 1), op("a", identical, 2, 3), op("b", different, 4, 5)}, true},
		"owned twice":             {[]porcupine.Operation{op("a", created, 0, 1), op("b", created, 2, 3)}, false},
		"lost":                    {[]porcupine.Operation{op("a", created, 0, 1), op("a", created, 2, 3)}, false},
		"changed":                 {[]porcupine.Operation{op("a", created, 0, 1), op("a", different, 2, 3)}, false},
		"unknown, was stored":     {[]porcupine.Operation{op("a", unknown, 0, never), op("b", different, 2, 3)}, true},
		"unknown, was not stored": {[]porcupine.Operation{op("a", unknown, 0, never), op("b", created, 2, 3)}, true},
		"unknown, stored late":    {[]porcupine.Operation{op("a", unknown, 0, never), op("b", refused, 2, 3), op("a", identical, 4, 5)}, true},
		"taken, never created":    {[]porcupine.Operation{op("b", different, 2, 3)}, false},
		"refused, and yet there":  {[]porcupine.Operation{op("a", refused, 0, 1), op("a", identical, 2, 3)}, false},
		"taken before it was":     {[]porcupine.Operation{op("b", different, 0, 1), op("a", created, 2, 3)}, false},
	} {
		if got := porcupine.CheckOperations(model(), test.history); got != test.want {
			t.Errorf("%s: linearizable: %v, want %v", name, got, test.want)
		}
	}
}
