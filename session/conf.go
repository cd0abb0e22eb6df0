// Package session holds what a client's session is: an immutable configuration, the current catalog and namespace, the sessions themselves
// and their bounded store, and the table of options. It knows no SQL and no wire, and imports nothing of ours.
package session

import (
	"hash/maphash"
	"iter"
	"strings"
)

// Conf is an immutable, ordered map of configuration keys to values. The zero Conf is empty. Keys are case-sensitive, as Spark's are.
// Changing it costs O(log n) and shares the rest, so that a session with very many keys stays cheap to change and to read.
type Conf struct {
	root  *node
	size  int
	bytes int64
}

// node is a node of a treap: a search tree by key, a heap by priority, which a hash of the key fixes.
type node struct {
	key, value  string
	priority    uint64
	left, right *node
}

var seed = maphash.MakeSeed()

// NewConf makes a Conf of pairs; of equal keys the last wins.
func NewConf(pairs map[string]string) Conf {
	var c Conf
	for k, v := range pairs {
		c = c.With(k, v)
	}
	return c
}

// Len is the number of keys.
func (c Conf) Len() int { return c.size }

// Bytes is what keys and values take together.
func (c Conf) Bytes() int64 { return c.bytes }

// Get gives a key's value and whether it is set; the empty string is a value.
func (c Conf) Get(key string) (string, bool) {
	for n := c.root; n != nil; {
		switch {
		case key < n.key:
			n = n.left
		case key > n.key:
			n = n.right
		default:
			return n.value, true
		}
	}
	return "", false
}

// With gives a Conf in which key has value.
func (c Conf) With(key, value string) Conf {
	old, set := c.Get(key)
	if !set {
		c.size++
		c.bytes += int64(len(key))
	}
	c.bytes += int64(len(value) - len(old))
	c.root = insert(c.root, &node{key: key, value: value, priority: maphash.String(seed, key)})
	return c
}

// Without gives a Conf in which key is not set.
func (c Conf) Without(key string) Conf {
	value, set := c.Get(key)
	if !set {
		return c
	}
	return Conf{root: remove(c.root, key), size: c.size - 1, bytes: c.bytes - int64(len(key)+len(value))}
}

// All yields every key with its value in byte order of the keys.
func (c Conf) All() iter.Seq2[string, string] { return c.Prefix("") }

// Prefix yields the keys that begin with prefix, in byte order. Its cost grows with what it yields.
func (c Conf) Prefix(prefix string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { walk(c.root, prefix, yield) }
}

func walk(n *node, prefix string, yield func(string, string) bool) bool {
	if n == nil {
		return true
	}
	if n.key >= prefix && !walk(n.left, prefix, yield) {
		return false
	}
	match := strings.HasPrefix(n.key, prefix)
	if match && !yield(n.key, n.value) {
		return false
	}
	if n.key < prefix || match {
		return walk(n.right, prefix, yield)
	}
	return true
}

// insert puts in under n by copying the path to it.
func insert(n, in *node) *node {
	if n == nil {
		return in
	}
	out := *n
	switch {
	case in.key < n.key:
		out.left = insert(n.left, in)
		if out.left.priority > out.priority {
			top := *out.left
			out.left, top.right = top.right, &out
			return &top
		}
	case in.key > n.key:
		out.right = insert(n.right, in)
		if out.right.priority > out.priority {
			top := *out.right
			out.right, top.left = top.left, &out
			return &top
		}
	default:
		out.value = in.value
	}
	return &out
}

func remove(n *node, key string) *node {
	out := *n
	switch {
	case key < n.key:
		out.left = remove(n.left, key)
	case key > n.key:
		out.right = remove(n.right, key)
	default:
		return merge(n.left, n.right)
	}
	return &out
}

// merge joins two treaps, all keys of a before all of b.
func merge(a, b *node) *node {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	if a.priority > b.priority {
		out := *a
		out.right = merge(a.right, b)
		return &out
	}
	out := *b
	out.left = merge(a, b.left)
	return &out
}
