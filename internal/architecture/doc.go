// Package architecture contains only tests. They check properties of the whole
// repository that no linter checks: sizes, links, and generated documents.
package architecture
