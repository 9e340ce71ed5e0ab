package etcd

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	const byDefault = 5 * time.Second
	for url, want := range map[string]target{
		"etcd://h":                           {endpoints: []string{"h:2379"}, prefix: "/plants/", timeout: byDefault},
		"etcd://h/":                          {endpoints: []string{"h:2379"}, prefix: "/plants/", timeout: byDefault},
		"ETCD://h1:1,h2,h3:3/a/b?timeout=9s": {endpoints: []string{"h1:1", "h2:2379", "h3:3"}, prefix: "/a/b/", timeout: 9 * time.Second},
		"etcd://[::1]:1,[::2]/a/":            {endpoints: []string{"[::1]:1", "[::2]:2379"}, prefix: "/a/", timeout: byDefault},
		"etcd://me:p%40ss@h/%20?tls=false":   {endpoints: []string{"h:2379"}, prefix: "/ /", user: "me", password: "p@ss", timeout: byDefault},
	} {
		got, err := parseURL(url)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{})); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", url, err, diff)
		}
	}
}

// TestParseURLRefuses checks that no error contains a password (C4.25).
func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"etcd:a/b":                        `"" is not HOST:PORT`,
		"etcd://me:hunter2@/a":            `"" is not HOST:PORT`,
		"etcd://h1,,h2":                   `"" is not HOST:PORT`,
		"etcd://h:x":                      `"h:x" is not HOST:PORT`,
		"etcd://h:99999":                  `"h:99999" is not HOST:PORT`,
		"etcd://me:hunter2%zz@h":          "write etcd://USER:PASSWORD@",
		"etcd://hunter2@h":                "both a user and a password, or neither",
		"etcd://:hunter2@h":               "both a user and a password, or neither",
		"etcd://h?a=hunter2":              `option "a": unknown`,
		"etcd://h?timeout=5s&timeout=6s":  `option "timeout": unknown or given twice`,
		"etcd://h?timeout=1ms":            "must be a duration from 1s to 1m",
		"etcd://h?tls=maybe":              "must be true or false",
		"etcd://h?ca=nosuch.pem":          "ca: open nosuch.pem",
		"etcd://h?ca=url.go":              "holds no certificate",
		"etcd://h?cert=url.go":            "both cert and key, or neither",
		"etcd://h?cert=url.go&key=url.go": "cert and key: tls: failed to find any PEM data",
		"etcd://h?%zz":                    "is not NAME=VALUE",
	} {
		_, err := parseURL(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want: %s", url, err, want)
		}
	}
}

// TestCertificateIsReloaded checks that the certificate is reloaded for each connection.
func TestCertificateIsReloaded(t *testing.T) {
	t.Parallel()
	ca, dir := certtest.New(t), t.TempDir()
	cert, key := ca.Issue(dir, time.Now().Add(time.Hour))
	got := must.Get(parseURL("etcd://h?ca=" + ca.File + "&cert=" + cert + "&key=" + key))(t)
	for range 2 {
		ca.Issue(dir, time.Now().Add(time.Hour))
		want := must.Get(tls.LoadX509KeyPair(cert, key))(t)
		if pair := must.Get(got.tls.GetClientCertificate(nil))(t); !pair.Leaf.Equal(want.Leaf) {
			t.Error("it is not the certificate in the file")
		}
	}
	ca.Issue(dir, time.Now().Add(-time.Second))
	if _, err := got.tls.GetClientCertificate(nil); err == nil || !strings.Contains(err.Error(), "expired certificate") {
		t.Errorf("of an expired certificate: %v", err)
	}
}
