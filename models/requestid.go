package models

import (
	"crypto/rand"
	"strings"
)

// idCharacters are the characters of a request id, which has at most maxID of them.
const (
	idCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=:@"
	maxID        = 128
)

// RequestID returns the X-Request-Id of the response to a request with these (C1.6): sent, if
// it is one id that may be used in responses and logs (C4.25), else a random one.
func RequestID(sent []string) []string {
	if len(sent) == 1 && sent[0] != "" && len(sent[0]) <= maxID && strings.Trim(sent[0], idCharacters) == "" && Redact(sent[0]) == sent[0] {
		return sent
	}
	return []string{rand.Text()}
}
