// Package recent holds the most recently used entries of a map, in bounded memory.
package recent

// A Map holds at most limit entries, among them at least the limit/2 most recently used
// ones: when the younger of two generations is full, it replaces the older. It is not
// safe for concurrent use.
type Map[K comparable, V any] struct {
	younger, older map[K]V
	limit          int
}

// New returns an empty Map.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{younger: make(map[K]V), limit: limit}
}

// Get returns the value of k, and whether there is one. Then k is the most recently used
// entry.
func (m *Map[K, V]) Get(k K) (v V, ok bool) {
	if v, ok = m.younger[k]; ok {
		return v, true
	}
	if v, ok = m.older[k]; ok {
		m.Put(k, v)
	}
	return v, ok
}

// Put sets the value of k, which is then the most recently used entry.
func (m *Map[K, V]) Put(k K, v V) {
	if _, ok := m.younger[k]; !ok && len(m.younger) >= m.limit/2 {
		m.younger, m.older = make(map[K]V), m.younger
	}
	m.younger[k] = v
}

// Len returns the number of entries, counting one that is in both generations twice.
func (m *Map[K, V]) Len() int { return len(m.younger) + len(m.older) }
