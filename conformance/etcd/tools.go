//go:build tools

// Package tools names the program of etcd that conformance builds, so that go.sum covers it.
package tools

import _ "go.etcd.io/etcd/server/v3"
