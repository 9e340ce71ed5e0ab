package overload

import (
	"fmt"
	"strings"
	"testing"

	"plantstore/e2e/internal/haproxy"
	"plantstore/e2e/internal/process"
)

// TestHAProxy checks that HAProxy serves many clients over TLS. However busy the machine is, it does not
// take the one healthy server for a dead one, and no request fails.
func TestHAProxy(t *testing.T) {
	t.Parallel()
	const clients = 1500
	host := process.Address()
	c := &crowd{site: newSite(t, "ADDR="+host+":8080", "ADMIN_ADDR="+host+":8081", fmt.Sprint("MAX_CONNECTIONS=", 2*clients))}
	proxy := haproxy.StartShipped(t, host)
	c.front, c.tls = "https://"+proxy.Address, proxy.TLS
	c.run(clients, 10*clients)
	if refused := c.refused.Load(); refused > 0 {
		t.Errorf("%d requests failed", refused)
	}
	for line := range strings.Lines(proxy.Log(t)) {
		if strings.Contains(line, "Server plantstore/a is DOWN") {
			t.Error(line)
		}
	}
	c.Verify(t, 0)
}
