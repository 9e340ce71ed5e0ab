package operate

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// seeded is the name of the only plant in the seed, with the id 1.
const seeded = "a"

// resetModel is the model of one id. Its state is the name of the plant, "" if there is
// none. The input is the name of a create, "" for a reset; the output of a create is created,
// or the message of its Error.
func resetModel(id int) porcupine.Model {
	first := ""
	if id == 1 {
		first = seeded
	}
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, output any) (bool, any) {
			there, _ := state.(string)
			name, _ := input.(string)
			message, _ := output.(string)
			switch {
			case name == "":
				return true, first
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

// A resetRace is a server with clients that race with its resets.
type resetRace struct {
	t      *testing.T
	server *plantstore.Server
	client *http.Client
	token  string
	start  time.Time

	mu      sync.Mutex
	creates map[int][]porcupine.Operation // by id
	resets  []porcupine.Operation
}

// post sends a request, which must not fail, and returns when it began and ended, and the
// message of its Error.
func (r *resetRace) post(url, body string) (call, end int64, message string) {
	call = int64(time.Since(r.start))
	reply, err := plantstore.Do(r.t.Context(), r.client, http.MethodPost, url, body, "Authorization", "Bearer "+r.token, "Content-Type", "application/json")
	if err != nil {
		r.t.Error(err)
	}
	return call, int64(time.Since(r.start)), reply.Message
}

func (r *resetRace) create(client, id int, name string) {
	call, end, message := r.post(r.server.BaseURL+"/plants", fmt.Sprintf(`{"id":%d,"name":%q}`, id, name))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.creates[id] = append(r.creates[id], porcupine.Operation{ClientId: client, Input: name, Output: message, Call: call, Return: end})
}

func (r *resetRace) reset(client int) {
	call, end, message := r.post(r.server.AdminURL+"/reset", "")
	if message != "" {
		r.t.Error(message)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resets = append(r.resets, porcupine.Operation{ClientId: client, Input: "", Output: "", Call: call, Return: end})
}

// TestResetRace runs creates and resets over HTTP concurrently. For each id there must be an
// order of its creates and of all resets, each between its request and its response, that
// explains all responses: a create happens before a reset or after it.
func TestResetRace(t *testing.T) {
	t.Parallel()
	const clients, creates, ids, resets = 6, 150, 5, 15
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "seed.jsonl"), []byte(fmt.Sprintf(`{"id":1,"name":%q}`, seeded)), 0o600))
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Args: []string{"--ephemeral", "--seed", "seed.jsonl"}})
	r := &resetRace{t: t, server: server, client: plantstore.NewClient(t), token: server.Token(), start: time.Now(), creates: map[int][]porcupine.Operation{}}
	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() {
			for n := range creates {
				r.create(client, n%ids, string("ab"[n/ids%2]))
			}
		})
	}
	running.Go(func() {
		for range resets {
			r.reset(clients)
		}
	})
	running.Wait()
	for id := range ids { // the remaining plants
		r.create(clients, id, "at the end")
	}
	for id, history := range r.creates {
		if result := porcupine.CheckOperationsTimeout(resetModel(id), append(history, r.resets...), time.Minute); result != porcupine.Ok {
			t.Errorf("id %d: %d creates and %d resets are not linearizable: %v", id, len(history), len(r.resets), result)
		}
	}
}
