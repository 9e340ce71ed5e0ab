package certificate

import (
	"os"
	"testing"

	"golang.org/x/crypto/acme/autocert"
)

func TestDirCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, ctx := dirCache{autocert.DirCache(dir)}, t.Context()
	const key = "plants.test+rsa"
	for _, data := range []string{"first", "second"} {
		if err := c.Put(ctx, key, []byte(data)); err != nil {
			t.Fatalf("Put: %v", err)
		}
		if got, err := c.Get(ctx, key); string(got) != data || err != nil {
			t.Errorf("Get = %q, %v, want %q", got, err, data)
		}
	}
	if err := c.Delete(ctx, key); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if err := c.Put(ctx, "../../outside", nil); err != nil {
		t.Errorf("Put: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "outside" {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}
