// Package network creates a network namespace for each member of a cluster, and cuts the links
// between them. It requires root.
package network

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
)

// A Link is one of the two links of each member.
type Link string

// The links of a member: to clients, including this machine, and to the other members.
const (
	ToClients Link = "c"
	ToPeers   Link = "p"
)

// A Network connects members.
type Network struct{ t testing.TB }

// New creates a network for n members, which exists until the end of the test. If that is not
// possible, the test is skipped with the reason; with CI=true it fails.
func New(t testing.TB, members int) *Network {
	t.Helper()
	tools.RequireRoot(t, "make network namespaces")
	if out, err := exec.CommandContext(t.Context(), tools.Require(t, "ip"), "netns", "list").CombinedOutput(); err != nil {
		tools.NotChecked(t, fmt.Sprintf("there are no network namespaces: %v %s", err, out))
	}
	n := &Network{t}
	for _, link := range []Link{ToClients, ToPeers} {
		bridge := name("b", link)
		n.ip("link", "add", bridge, "type", "bridge")
		t.Cleanup(func() { n.ip("link", "del", bridge) })
		n.ip("link", "set", bridge, "up")
		if link == ToClients {
			n.ip("addr", "add", address(link, 1)+"/24", "dev", bridge)
		}
	}
	for member := range members {
		n.join(member)
	}
	return n
}

// join creates the namespace of a member and its links.
func (n *Network) join(member int) {
	n.t.Helper()
	space := Space(member)
	n.ip("netns", "add", space)
	n.t.Cleanup(func() { n.ip("netns", "del", space) })
	n.ip("-n", space, "link", "set", "lo", "up")
	for _, link := range []Link{ToClients, ToPeers} {
		outside := name(fmt.Sprint(member), link)
		n.ip("link", "add", outside, "type", "veth", "peer", "name", string(link), "netns", space)
		n.ip("link", "set", outside, "master", name("b", link), "up")
		n.ip("-n", space, "addr", "add", Address(member, link)+"/24", "dev", string(link))
		n.ip("-n", space, "link", "set", string(link), "up")
	}
}

// Cut silently drops all packets on a link of a member.
func (n *Network) Cut(member int, links ...Link) { n.set("down", member, links) }

// Heal undoes Cut.
func (n *Network) Heal(member int, links ...Link) { n.set("up", member, links) }

func (n *Network) set(state string, member int, links []Link) {
	n.t.Helper()
	for _, link := range links {
		n.ip("link", "set", name(fmt.Sprint(member), link), state)
	}
}

func (n *Network) ip(args ...string) {
	n.t.Helper()
	process.Run(n.t, "ip", args...)
}

// Space returns the name of the namespace of a member.
func Space(member int) string { return fmt.Sprintf("plants-%d-%d", os.Getpid(), member) }

// Address returns the address of a member on a link.
func Address(member int, link Link) string { return address(link, 10+member) }

// address returns an address of the networks that are reserved for tests (RFC 2544), in the part
// of this process.
func address(link Link, host int) string {
	second := map[Link]int{ToClients: 18, ToPeers: 19}[link]
	return fmt.Sprintf("198.%d.%d.%d", second, os.Getpid()%256, host)
}

// name returns the name of a device, which has at most 15 characters.
func name(end string, link Link) string { return fmt.Sprintf("pl%d%s%s", os.Getpid(), link, end) }
