// Package architecture contains only tests. They check properties of the whole
// repository that no linter checks: links and generated documents.
package architecture
