package operate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// resetModel is the model of one id. Its state is the name of the plant, "" if there is none; first
// is the name in the seed. The input is the name of a create, "" for a reset; the output is the message
// of the Error, "" for success.
func resetModel(first string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, output any) (bool, any) {
			there, _ := state.(string)
			name, _ := input.(string)
			message, _ := output.(string)
			switch {
			case name == "":
				return message == "", first
			case message == "":
				return there == "", name
			case strings.HasSuffix(message, "is identical to this one"):
				return there == name, there
			case strings.HasSuffix(message, "is different from this one"):
				return there != "" && there != name, there
			}
			return false, there
		},
	}
}

// TestResetRace runs creates and resets over HTTP concurrently. For each id there must be an
// order of its creates and of all resets, each between its request and its response, that
// explains all responses: a create happens before a reset or after it.
func TestResetRace(t *testing.T) {
	t.Parallel()
	const clients, creates, ids, resets = 6, 150, 5, 15
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "seed.jsonl"), []byte(`{"id":1,"name":"a"}`), 0o600))
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Args: []string{"--ephemeral", "--seed", "seed.jsonl"}})
	token, client, start := server.Token(), plantstore.NewClient(t), time.Now()
	var mu sync.Mutex
	histories := map[int][]porcupine.Operation{} // by id
	do := func(id, n int, name string, post func() (plantstore.Reply, error)) {
		call := time.Since(start)
		r, err := post()
		if err != nil {
			t.Error(err)
		}
		op := porcupine.Operation{ClientId: n, Input: name, Output: r.Message, Call: int64(call), Return: int64(time.Since(start))}
		mu.Lock()
		defer mu.Unlock()
		histories[id] = append(histories[id], op)
	}
	create := func(n, id int, name string) {
		do(id, n, name, func() (plantstore.Reply, error) {
			return server.TryPost(token, fmt.Sprintf(`{"id":%d,"name":%q}`, id, name))
		})
	}
	const resetID = -1 // of the resets
	load.Each(clients+1, clients+1, func(n int) {
		if n == clients {
			for range resets {
				do(resetID, n, "", func() (plantstore.Reply, error) {
					return plantstore.Do(t.Context(), client, "POST", server.AdminURL+"/reset", "")
				})
			}
			return
		}
		for i := range creates {
			create(n, i%ids, string("ab"[i/ids%2]))
		}
	})
	for id := range ids { // the remaining plants
		create(clients, id, "at the end")
		first := ""
		if id == 1 {
			first = "a"
		}
		history := slices.Concat(histories[id], histories[resetID])
		if result := porcupine.CheckOperationsTimeout(resetModel(first), history, time.Minute); result != porcupine.Ok {
			t.Errorf("id %d: %d creates and %d resets are not linearizable: %v", id, len(histories[id]), resets, result)
		}
	}
}
