package plantio

import "testing"

// TestUTF16Name checks that the byte order is found with and without a mark.
func TestUTF16Name(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\xff\xfei\x00": "UTF-16LE", "i\x00d\x00": "UTF-16LE", "\xfe\xff\x00i": "UTF-16BE", "\x00i\x00d": "UTF-16BE",
		"id,name": "", "\x00\x00\x00\x00": "", "": "",
	} {
		if got := utf16Name([]byte(text)); got != want {
			t.Errorf("%q is in %q, want %q", text, got, want)
		}
	}
}
