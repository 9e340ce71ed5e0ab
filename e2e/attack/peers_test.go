package attack

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// TestFoldedHeaders sends headers that another program, such as a proxy, may interpret
// differently: folded lines, and expectations in a list. All are refused, and a request that is
// smuggled behind them is not served.
func TestFoldedHeaders(t *testing.T) {
	t.Parallel()
	s := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=error"}})
	const hidden = "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	for name, attack := range map[string]struct {
		lines string
		code  models.Code
	}{
		"a folded field":                {"X: a\r\n b", models.CodeBadRequest},
		"folded by a tab":               {"X: a\r\n\tb", models.CodeBadRequest},
		"a folded Transfer-Encoding":    {"Transfer-Encoding:\r\n chunked", models.CodeBadRequest},
		"a Transfer-Encoding in a fold": {"X: a\r\n Transfer-Encoding: chunked", models.CodeBadRequest},
		"a folded Content-Length":       {"Content-Length:\r\n 0", models.CodeBadRequest},
		"a line of one space":           {"X: a\r\n ", models.CodeBadRequest},
		"100-continue and more":         {"Expect: 100-continue, x\r\nContent-Length: 0", models.CodeExpectationFailed},
		"more and 100-continue":         {"Expect: x, 100-continue\r\nContent-Length: 0", models.CodeExpectationFailed},
		"two Expect fields":             {"Expect: 100-continue\r\nExpect: x\r\nContent-Length: 0", models.CodeExpectationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := dialPeer(t, s, "")
			p.send("POST /plants HTTP/1.1\r\nHost: x\r\n" + attack.lines + "\r\n\r\n" + hidden)
			p.want("the request", attack.code)
			if _, err := p.in.ReadByte(); err == nil {
				t.Error("the smuggled request gets a response")
			}
		})
	}
}
