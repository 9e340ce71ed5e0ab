// Package release checks what a release is made of: the binary, the packages for
// Linux and what they install.
package release
