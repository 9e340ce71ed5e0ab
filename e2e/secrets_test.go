package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestNoSecretIsLogged checks that whatever a client sends, the log at level debug contains
// neither a token nor the secret (C4.25).
func TestNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	const secret = "the-secret-of-this-test-0123456789abcdef"
	server := plantstore.Start(t, plantstore.Options{
		Env: []string{"LOG_LEVEL=debug", "JWT_SECRET=" + secret},
	})
	token := server.Token()
	signature := token[strings.LastIndexByte(token, '.')+1:]
	const plant = `{"id":1,"name":"x"}`
	requests := []string{
		rawPost("/plants", "Bearer "+token, plant),
		rawPost("/plants", "Bearer "+token, plant), // id taken
		rawPost("/plants", "Bearer "+token, `{"id":"`+token+`","name":null,"`+secret+`":1}`),
		rawPost("/plants", "Bearer "+token+"x", plant),
		rawPost("/plants", "Bearer "+token[1:], plant),
		rawPost("/plants", "Bearer "+token+" "+token, plant),
		rawPost("/plants", "Basic "+token, plant),
		rawPost("/plants", token, plant),
		rawPost("/plants", "Bearer "+token+"\r\nAuthorization: Bearer "+token, plant),
		rawPost("/plants?access_token="+token, "", plant),
		rawPost("/plants/"+token, "Bearer "+token, plant),
		rawPost("/"+token+"/", "Bearer "+token, plant),
		rawPost("/plants", "Bearer "+token+"\r\nX-Request-Id: "+token, `{"id":2,"name":"x"}`),
		rawPost("/plants", "Bearer "+token+"\r\nUser-Agent: "+token+"\r\nTraceparent: "+token, `{"id":3,"name":"x"}`),
		rawPost("/plants", "Bearer "+token+"\r\nX-Request-Id: "+token+"\r\nExpect: "+token, plant),
		"POST /plants HTTP/9.9\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nX-Request-Id: " + token + "\r\n\r\n",
		token + " /plants HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /plants HTTP/1.1\r\nHost: " + token + "\r\n" + token + "\r\n\r\n",
	}
	for _, request := range requests {
		response := exchange(t, server, request)
		if response.Status != http.StatusOK && response.Status != http.StatusBadRequest {
			t.Errorf("%q: %d", request, response.Status)
		}
	}
	server.Stop()
	if lines := strings.Count(server.Log(), "\n"); lines < len(requests) {
		t.Errorf("the log has %d lines", lines)
	}
	for line := range strings.Lines(server.Log()) {
		if strings.Contains(line, secret) || strings.Contains(line, signature) {
			t.Errorf("the log contains a secret: %s", line)
		}
	}
}

// rawPost returns a request with an Authorization.
func rawPost(target, authorization, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\nAuthorization: %s\r\n\r\n%s",
		target, len(body), authorization, body)
}
