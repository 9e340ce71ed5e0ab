package certificate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/acme/autocert"
)

func TestDirCache(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "acme")
	c, ctx := dirCache(dir), t.Context()
	const key = "plants.test+rsa"
	want := func(want string, wantErr error) {
		t.Helper()
		if got, err := c.Get(ctx, key); string(got) != want || !errors.Is(err, wantErr) {
			t.Errorf("Get = %q, %v, want %q, %v", got, err, want, wantErr)
		}
	}
	want("", autocert.ErrCacheMiss)
	if err := c.Delete(ctx, key); err != nil {
		t.Errorf("Delete from no directory: %v", err)
	}
	for _, data := range []string{"first", "second"} {
		if err := c.Put(ctx, key, []byte(data)); err != nil {
			t.Fatalf("Put: %v", err)
		}
		want(data, nil)
	}
	if got, err := autocert.DirCache(dir).Get(ctx, key); string(got) != "second" || err != nil {
		t.Errorf("autocert.DirCache reads %q, %v", got, err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if err := c.Put(ended, key, []byte("third")); !errors.Is(err, context.Canceled) {
		t.Errorf("Put with an ended context: %v", err)
	}
	want("second", nil)
	for range 2 {
		if err := c.Delete(ctx, key); err != nil {
			t.Errorf("Delete: %v", err)
		}
		want("", autocert.ErrCacheMiss)
	}
	if err := c.Put(ctx, "../../outside", nil); err != nil {
		t.Errorf("Put: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "outside" {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}
