package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/internal/process"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// eventually sends new plants until the outcome is as expected.
func (s *site) eventually(goal string, want outcome, word string) {
	s.t.Helper()
	process.Eventually(s.t, goal, func(context.Context) error {
		s.mu.Lock()
		id := 1<<50 + int64(len(s.history))
		s.mu.Unlock()
		got := s.create(0, id, goal, true)
		if got == want && strings.Contains(s.last().response, word) {
			return nil
		}
		return errors.New(s.last().response)
	})
}

// last returns the operation that ended last.
func (s *site) last() operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.history) == 0 {
		return operation{}
	}
	return s.history[len(s.history)-1]
}

// startFails starts a replica that must exit with code and a message.
func startFails(t *testing.T, code int, url, message string) {
	t.Helper()
	rejects(t, code, message, []string{"ADDR=127.0.0.1:0", "ADMIN_ADDR=off", "JWT_SECRET=" + secret, "STORAGE_URL=" + url}, "serve")
}

// TestEtcdQuota fills an etcd up to its quota under load, and frees space again.
func TestEtcdQuota(t *testing.T) {
	t.Parallel()
	cluster := etcd.Start(t, etcd.Options{Args: []string{"--quota-backend-bytes", fmt.Sprint(4 << 20)}})
	client := cluster.Client()
	// Other keys take up most of the space.
	for n := range 24 {
		must.Get(client.Put(t.Context(), fmt.Sprint("others/", n), strings.Repeat("x", 100<<10)))(t)
	}
	s := newSite(t, "etcd://"+cluster.Hosts(), 2)
	stop := s.load()
	process.Eventually(t, "error 507", func(context.Context) error {
		if response := s.last().response; !strings.Contains(response, "error 507") {
			return errors.New(response)
		}
		return nil
	})
	s.awaitReadiness(`{"error":503,"message":"not ready: no space is left for the database"}`)
	// A replica that starts now logs this, and runs.
	s.replace(1)
	if log := s.replicas[1].Log(); !strings.Contains(log, "ready") {
		t.Errorf("the replica that started without space logs:\n%s", log)
	}
	response := must.Get(client.Delete(t.Context(), "others/", clientv3.WithPrefix()))(t)
	must.Get(client.Compact(t.Context(), response.Header.Revision, clientv3.WithCompactPhysical()))(t)
	must.Get(client.Defragment(t.Context(), client.Endpoints()[0]))(t)
	must.Get(client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{}))(t)
	s.await(10)
	s.awaitReadiness("")
	stop()
	s.verify()
}

// TestEtcdCredentials uses wrong users, insufficient privileges, and privileges that change.
func TestEtcdCredentials(t *testing.T) {
	t.Parallel()
	cluster := etcd.Start(t, etcd.Options{})
	client, ctx := cluster.Client(), t.Context()
	all := clientv3.PermissionType(clientv3.PermReadWrite)
	must.Get(client.UserAdd(ctx, "root", "of the tests"))(t)
	must.Get(client.UserGrantRole(ctx, "root", "root"))(t)
	must.Get(client.RoleAdd(ctx, "gardener"))(t)
	must.Get(client.RoleGrantPermission(ctx, "gardener", "/garden/", clientv3.GetPrefixRangeEnd("/garden/"), all))(t)
	must.Get(client.RoleAdd(ctx, "visitor"))(t)
	must.Get(client.RoleGrantPermission(ctx, "visitor", "/garden/", clientv3.GetPrefixRangeEnd("/garden/"), clientv3.PermissionType(clientv3.PermRead)))(t)
	for _, user := range []string{"gardener", "visitor"} {
		must.Get(client.UserAdd(ctx, user, "hunter2"))(t)
		must.Get(client.UserGrantRole(ctx, user, user))(t)
	}
	must.Get(client.AuthEnable(ctx))(t)
	admin := must.Get(clientv3.New(clientv3.Config{Endpoints: client.Endpoints(), Username: "root", Password: "of the tests"}))(t)
	t.Cleanup(func() { _ = admin.Close() })

	// Without a user it fails at once, although it would wait a minute for a member.
	startFails(t, 1, "etcd://"+cluster.Hosts()+"/garden?timeout=1m", "requires a user and a password")
	startFails(t, 1, "etcd://gardener:hunter2x@"+cluster.Hosts()+"/garden", "the user or the password is wrong")
	startFails(t, 1, "etcd://gardener:hunter2@"+cluster.Hosts()+"/gar", `"gardener" lacks the right to read and write below the prefix /gar/`)
	startFails(t, 1, "etcd://visitor:hunter2@"+cluster.Hosts()+"/garden", `"visitor" lacks the right`)

	s := newSite(t, "etcd://gardener:hunter2@"+cluster.Hosts()+"/garden", 1)
	s.eventually("allowed", created, "")
	must.Get(admin.RoleRevokePermission(ctx, "gardener", "/garden/", clientv3.GetPrefixRangeEnd("/garden/")))(t)
	s.eventually("without the right", refused, "error 500")
	must.Get(admin.RoleGrantPermission(ctx, "gardener", "/garden/", clientv3.GetPrefixRangeEnd("/garden/"), all))(t)
	s.eventually("allowed again", created, "")
	must.Get(admin.UserChangePassword(ctx, "gardener", "changed"))(t)
	s.eventually("with the old password", refused, "was not stored")
	must.Get(admin.UserChangePassword(ctx, "gardener", "hunter2"))(t)
	s.eventually("with the right password", created, "")
	s.verify()
	if log := s.replicas[0].Log(); strings.Contains(log, "hunter2") || !strings.Contains(log, "permission denied") {
		t.Errorf("the log contains the password, or not the cause:\n%s", log)
	}
}

// TestEtcdCertificates lets the client's certificate expire and replaces it by a valid one.
func TestEtcdCertificates(t *testing.T) {
	t.Parallel()
	address := process.Address()
	ca, dir := certtest.New(t), t.TempDir()
	server, serverKey := ca.Issue(t.TempDir(), time.Now().Add(time.Hour), net.ParseIP(address))
	cert, key := ca.Issue(dir, time.Now().Add(time.Hour))
	config := ca.Client()
	config.Certificates = []tls.Certificate{must.Get(tls.LoadX509KeyPair(cert, key))(t)}
	cluster := etcd.Start(t, etcd.Options{
		Addresses: []string{address}, Scheme: "https", TLS: config,
		Args: []string{"--cert-file", server, "--key-file", serverKey, "--trusted-ca-file", ca.File, "--client-cert-auth"},
	})
	url := "etcd://" + cluster.Hosts() + "/garden?ca=" + ca.File + "&cert=" + cert + "&key=" + key
	s := newSite(t, url, 1)
	s.eventually("with a good certificate", created, "")

	ca.Issue(dir, time.Now().Add(-time.Hour))
	cluster.Members[0].Kill() // so that there is a new connection
	cluster.Restart(cluster.Members[0])
	s.eventually("with an expired certificate", refused, "error 503")
	startFails(t, 2, url, "expired certificate")
	countFails := func(url, message string) { // a replica would wait
		rejects(t, 1, message, []string{"STORAGE_URL=" + url}, "plants", "count")
	}
	countFails("etcd://"+cluster.Hosts()+"/garden?ca="+ca.File, "no member with a quorum has responded")
	countFails("etcd://"+cluster.Hosts()+"/garden?tls=true", "unknown authority")
	ca.Issue(dir, time.Now().Add(time.Hour))
	s.eventually("with a new certificate", created, "")
	s.verify()
}
