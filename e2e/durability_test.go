package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

const (
	rounds  = 5
	writers = 16
	// enough is the number of acknowledged plants in a round before the kill.
	enough = 200
)

// TestAcknowledgedPlantsSurviveKill kills the server under load again and again. After each
// restart on the same file every plant that was ever acknowledged must be there as it was sent
// (C5.26).
func TestAcknowledgedPlantsSurviveKill(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	token := server.Token("--ttl", "0")
	var acknowledged []string
	for round := range rounds {
		acknowledged = append(acknowledged, killUnderLoad(t, server, token, round)...)
		server = plantstore.Start(t, plantstore.Options{Dir: server.Dir})
		checkStored(t, server, token, acknowledged)
	}
	if len(acknowledged) < rounds*enough {
		t.Errorf("only %d plants were acknowledged", len(acknowledged))
	}
	server.Stop()
}

// killUnderLoad kills the server during many creates, and returns the bodies of the acknowledged
// ones.
func killUnderLoad(t *testing.T, server *plantstore.Server, token string, round int) []string {
	t.Helper()
	client := newClient()
	var created atomic.Int64
	killNow := make(chan struct{})
	bodies := make([][]string, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := 0; ; n++ {
				// Ids of all kinds: negative ones, and ones beyond 2^53.
				id := int64(round-rounds/2)<<60 | int64(w)<<40 | int64(n)
				body := fmt.Sprintf(`{"id":%d,"name":"plant %d of writer %d","tag":"round %d"}`, id, n, w, round)
				status, err := statusOf(t.Context(), client, server, token, body)
				if err != nil {
					return // the server has exited
				}
				if status != http.StatusOK {
					t.Errorf("%s: status %d", body, status)
					return
				}
				bodies[w] = append(bodies[w], body)
				if created.Add(1) == enough {
					close(killNow)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-killNow:
	case <-done:
		t.Fatal("the writers ended before the server was killed")
	}
	server.Kill()
	<-done
	var acknowledged []string
	for _, b := range bodies {
		acknowledged = append(acknowledged, b...)
	}
	return acknowledged
}

// checkStored resends each plant: the response must be that its id is taken by an identical
// plant.
func checkStored(t *testing.T, server *plantstore.Server, token string, bodies []string) {
	t.Helper()
	client := newClient()
	defer client.CloseIdleConnections()
	for _, body := range bodies {
		response, err := tryPost(t.Context(), client, server, token, body)
		if err != nil {
			t.Fatal(err)
		}
		got := failure(t, response)
		_ = response.Body.Close()
		if got.Code != 409 || !strings.Contains(got.Message, "is identical") {
			t.Errorf("%s was acknowledged; now: %d %s", body, got.Code, got.Message)
		}
	}
}

func newClient() *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: writers}}
}

// statusOf sends a NewPlant, reads the response, and returns its status.
func statusOf(ctx context.Context, client *http.Client, server *plantstore.Server, token, body string) (int, error) {
	response, err := tryPost(ctx, client, server, token, body)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
