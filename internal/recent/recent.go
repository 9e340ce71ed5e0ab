// Package recent holds the most recently used entries of a map, in bounded memory.
package recent

import "sync"

// A Map holds at most limit entries, among them at least the limit/2 most recently used
// ones: when the younger of two generations is full, it replaces the older. It is safe for
// concurrent use.
type Map[K comparable, V any] struct {
	limit int

	mu             sync.Mutex // guards the following
	younger, older map[K]V
}

// New returns an empty Map.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{younger: make(map[K]V), limit: limit}
}

// Get returns the value of k, and whether there is one. Then k is the most recently used
// entry.
func (m *Map[K, V]) Get(k K) (v V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(k)
}

// GetOrPut is [Map.Get], but if there is no value it first puts the one that create returns.
func (m *Map[K, V]) GetOrPut(k K, create func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.get(k)
	if !ok {
		v = create()
		m.put(k, v)
	}
	return v
}

// Put sets the value of k, which is then the most recently used entry.
func (m *Map[K, V]) Put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(k, v)
}

func (m *Map[K, V]) get(k K) (v V, ok bool) {
	if v, ok = m.younger[k]; ok {
		return v, true
	}
	if v, ok = m.older[k]; ok {
		m.put(k, v)
	}
	return v, ok
}

func (m *Map[K, V]) put(k K, v V) {
	if _, ok := m.younger[k]; !ok && len(m.younger) >= m.limit/2 {
		m.younger, m.older = make(map[K]V), m.younger
	}
	m.younger[k] = v
}
