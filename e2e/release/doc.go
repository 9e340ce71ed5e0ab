// Package release checks the parts of a release: the binary, and the packages for Linux
// with the files that they install.
package release
