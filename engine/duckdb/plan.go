//go:build cgo

package duckdb

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/skua-data/skua/fault"
)

// planned is the engine's optimised plan as it serializes it. Only what pushing down needs is read.
type planned struct {
	Error        bool        `json:"error"`
	ErrorMessage string      `json:"error_message"`
	Plans        []*planNode `json:"plans"`
}

// planNode is an operator. Columns are told by their place in the child's output.
type planNode struct {
	Type          string      `json:"type"`
	Children      []*planNode `json:"children"`
	Expressions   planExprs   `json:"expressions"`
	Orders        []planOrder `json:"orders"`
	Groups        []*planExpr `json:"groups"`
	Names         []string    `json:"names"`
	Name          string      `json:"name"`
	Parameters    []planValue `json:"parameters"`
	ColumnIndexes []struct {
		Index int `json:"index"`
	} `json:"column_indexes"`
	ProjectionIDs []int           `json:"projection_ids"`
	ProjectionMap []int           `json:"projection_map"`
	LeftMap       []int           `json:"left_projection_map"`
	RightMap      []int           `json:"right_projection_map"`
	JoinType      string          `json:"join_type"`
	Conditions    []planCondition `json:"conditions"`
	LimitValue    planLimit       `json:"limit_val"`
	OffsetValue   planLimit       `json:"offset_val"`
	Limit         int64           `json:"limit"`
	Offset        int64           `json:"offset"`
	EstimatedRows int64           `json:"estimated_cardinality"`
	GroupingSets  [][]int         `json:"grouping_sets"`
	ReturnedTypes []planType      `json:"returned_types"`
	TableIndex    int             `json:"table_index"`
	CTEIndex      int             `json:"cte_index"`
	HasEstimate   bool            `json:"has_estimated_cardinality"`
	DistinctType  string          `json:"distinct_type"`
	DistinctBy    []*planExpr     `json:"distinct_targets"`
	SetOpAll      bool            `json:"setop_all"`
}

// planExprs are an operator's expressions. Those of VALUES are lists of rows, and nothing wants them.
type planExprs []*planExpr

// UnmarshalJSON reads expressions, numbers as they are written.
func (e *planExprs) UnmarshalJSON(text []byte) error {
	*e = nil
	if bytes.HasPrefix(text, []byte("[[")) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*[]*planExpr)(e))
}

type planCondition struct {
	Left       *planExpr `json:"left"`
	Right      *planExpr `json:"right"`
	Comparison string    `json:"comparison"`
}

type planLimit struct {
	Type     string `json:"type"`
	Constant int64  `json:"constant_integer"`
}

// planOrder is a key by which rows are sorted.
type planOrder struct {
	Type       string    `json:"type"`
	NullOrder  string    `json:"null_order"`
	Expression *planExpr `json:"expression"`
}

// planExpr is a bound expression.
type planExpr struct {
	Class          string      `json:"expression_class"`
	Type           string      `json:"type"`
	Index          int         `json:"index"`
	Name           string      `json:"name"`
	Children       []*planExpr `json:"children"`
	Left           *planExpr   `json:"left"`
	Right          *planExpr   `json:"right"`
	Input          *planExpr   `json:"input"`
	Lower          *planExpr   `json:"lower"`
	Upper          *planExpr   `json:"upper"`
	LowerInclusive bool        `json:"lower_inclusive"`
	UpperInclusive bool        `json:"upper_inclusive"`
	Child          *planExpr   `json:"child"`
	ReturnType     planType    `json:"return_type"`
	Cases          []planCase  `json:"case_checks"`
	Else           *planExpr   `json:"else_expr"`
	Value          planValue   `json:"value"`
	TryCast        bool        `json:"try_cast"`
	Arguments      []planType  `json:"arguments"`
	AggregateType  string      `json:"aggregate_type"`
	Filter         *planExpr   `json:"filter"`     // of an aggregate
	Partitions     []*planExpr `json:"partitions"` // of a window, as are orders
	Orders         []planOrder `json:"orders"`
}

// planCase is a branch of CASE.
type planCase struct {
	When *planExpr `json:"when_expr"`
	Then *planExpr `json:"then_expr"`
}

// planValue is a constant with its type.
type planValue struct {
	Type   planType `json:"type"`
	IsNull bool     `json:"is_null"`
	Value  any      `json:"value"`
}

// planType is a type.
type planType struct {
	ID   string `json:"id"`
	Info *struct {
		Width    int             `json:"width"`
		Scale    int             `json:"scale"`
		Children json.RawMessage `json:"child_types"` // of a struct
		Child    json.RawMessage `json:"child_type"`  // of a list
		Alias    string          `json:"alias"`
	} `json:"type_info"`
}

// readPlan reads a serialized plan of one statement.
func readPlan(serialized string) (*planNode, error) {
	var p planned
	d := json.NewDecoder(strings.NewReader(serialized))
	d.UseNumber()
	if err := d.Decode(&p); err != nil {
		return nil, fault.New(fault.Internal, "read the SQL engine's plan: %w", err)
	}
	if p.Error || len(p.Plans) != 1 {
		return nil, fault.New(fault.Internal, "plan: %s", p.ErrorMessage)
	}
	return p.Plans[0], nil
}

// expressions calls f for every expression of a plan, inner ones, too.
func (n *planNode) expressions(f func(*planExpr)) {
	for _, list := range [][]*planExpr{n.Expressions, n.Groups} {
		for _, e := range list {
			e.walk(f)
		}
	}
	for _, o := range n.Orders {
		o.Expression.walk(f)
	}
	for _, c := range n.Conditions {
		c.Left.walk(f)
		c.Right.walk(f)
	}
	for _, c := range n.Children {
		c.expressions(f)
	}
}

// walk calls f for an expression and those in it.
func (e *planExpr) walk(f func(*planExpr)) {
	if e == nil {
		return
	}
	f(e)
	for _, inner := range []*planExpr{e.Left, e.Right, e.Input, e.Lower, e.Upper, e.Child, e.Filter} {
		inner.walk(f)
	}
	for _, list := range [][]*planExpr{e.Children, e.Partitions} {
		for _, inner := range list {
			inner.walk(f)
		}
	}
	for _, c := range e.Cases {
		c.When.walk(f)
		c.Then.walk(f)
	}
	for _, o := range e.Orders {
		o.Expression.walk(f)
	}
	e.Else.walk(f)
}

// sortsOtherwise reports whether rows are sorted by a float, or by values with parts, be it in a window.
func (n *planNode) sortsOtherwise() (found bool) {
	note := func(e *planExpr) {
		found = found || e != nil && (e.Class == "BOUND_REF" && (e.ReturnType.ID == "DOUBLE" || e.ReturnType.ID == "FLOAT") || e.typ().nested())
	}
	for _, o := range n.Orders {
		note(o.Expression)
	}
	for _, e := range n.Expressions {
		for _, partition := range e.Partitions {
			note(partition)
		}
		for _, o := range e.Orders {
			note(o.Expression)
		}
	}
	for _, c := range n.Children {
		found = found || c.sortsOtherwise()
	}
	return found
}

// isScan reports whether a node is one of our tables.
func (n *planNode) isScan() bool { return n.Type == "LOGICAL_GET" && n.Name == "skua_scan" }

// width is the number of columns that a node gives; -1: unknown.
func (n *planNode) width() int {
	switch n.Type {
	case "LOGICAL_GET":
		if len(n.ProjectionIDs) > 0 {
			return len(n.ProjectionIDs)
		}
		return len(n.ColumnIndexes)
	case "LOGICAL_PROJECTION":
		return len(n.Expressions)
	case "LOGICAL_FILTER":
		if len(n.ProjectionMap) > 0 {
			return len(n.ProjectionMap)
		}
		return n.childWidth(0)
	case "LOGICAL_LIMIT", "LOGICAL_TOP_N", "LOGICAL_ORDER_BY", "LOGICAL_DISTINCT", "LOGICAL_UNION", "LOGICAL_EXCEPT", "LOGICAL_INTERSECT":
		return n.childWidth(0)
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return len(n.Groups) + len(n.Expressions)
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_CROSS_PRODUCT", "LOGICAL_ANY_JOIN":
		left, right := n.side(0), n.side(1)
		switch {
		case left < 0 || right < 0:
			return -1
		case n.JoinType == "SEMI" || n.JoinType == "ANTI":
			return left
		case n.JoinType == "MARK":
			return left + 1
		case n.JoinType == "RIGHT_SEMI" || n.JoinType == "RIGHT_ANTI":
			return right
		}
		return left + right
	}
	return -1
}

func (n *planNode) childWidth(i int) int {
	if i >= len(n.Children) {
		return -1
	}
	return n.Children[i].width()
}

// side is the number of columns that a join takes of one side.
func (n *planNode) side(i int) int {
	kept := n.LeftMap
	if i == 1 {
		kept = n.RightMap
	}
	if len(kept) > 0 {
		return len(kept)
	}
	return n.childWidth(i)
}

// origin is a column of a table.
type origin struct {
	scan   *planNode
	column int // in the table
}

// origin finds the column that a node's output is, unchanged, without a row that a filter on it would not drop as well. With subset it is
// enough that the values are among the column's.
func (n *planNode) origin(output int, subset bool) (origin, bool) {
	none := origin{}
	if output < 0 {
		return none, false
	}
	switch n.Type {
	case "LOGICAL_GET":
		if !n.isScan() {
			return none, false
		}
		if len(n.ProjectionIDs) > 0 {
			if output >= len(n.ProjectionIDs) {
				return none, false
			}
			output = n.ProjectionIDs[output]
		}
		if output >= len(n.ColumnIndexes) {
			return none, false
		}
		return origin{n, n.ColumnIndexes[output].Index}, true
	case "LOGICAL_PROJECTION":
		if output >= len(n.Expressions) || len(n.Children) != 1 || n.Expressions[output].Class != "BOUND_REF" {
			return none, false
		}
		return n.Children[0].origin(n.Expressions[output].Index, subset)
	case "LOGICAL_FILTER":
		if len(n.Children) != 1 {
			return none, false
		}
		return n.Children[0].origin(mapped(n.ProjectionMap, output), subset)
	case "LOGICAL_LIMIT", "LOGICAL_TOP_N", "LOGICAL_ORDER_BY", "LOGICAL_DISTINCT":
		if !subset && n.Type != "LOGICAL_ORDER_BY" || len(n.Children) != 1 {
			return none, false
		}
		return n.Children[0].origin(output, subset)
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		if !subset || len(n.Children) != 1 || output >= len(n.Groups) || n.Groups[output].Class != "BOUND_REF" {
			return none, false
		}
		return n.Children[0].origin(n.Groups[output].Index, subset)
	case "LOGICAL_COMPARISON_JOIN":
		return n.joinOrigin(output, subset)
	}
	return none, false
}

// joinOrigin follows a column into the side of a join that it comes from.
func (n *planNode) joinOrigin(output int, subset bool) (origin, bool) {
	left := n.side(0)
	if len(n.Children) != 2 || left < 0 {
		return origin{}, false
	}
	fromLeft, fromRight := subset, subset
	switch n.JoinType {
	case "INNER":
		fromLeft, fromRight = true, true
	case "LEFT", "SEMI", "ANTI":
		fromLeft = true
	case "MARK", "SINGLE":
		fromLeft = true
	case "RIGHT":
		fromRight = true
	default:
		return origin{}, false
	}
	if output < left {
		if !fromLeft {
			return origin{}, false
		}
		return n.Children[0].origin(mapped(n.LeftMap, output), subset)
	}
	if !fromRight || n.JoinType == "SEMI" || n.JoinType == "ANTI" || n.JoinType == "MARK" {
		return origin{}, false
	}
	return n.Children[1].origin(mapped(n.RightMap, output-left), subset)
}

// mapped gives the place of an output in a child; an empty map keeps places.
func mapped(kept []int, output int) int {
	switch {
	case len(kept) == 0:
		return output
	case output < len(kept):
		return kept[output]
	}
	return -1
}

// id is the number of a scan's occurrence.
func (n *planNode) id() string {
	if len(n.Parameters) != 1 {
		return ""
	}
	v, _ := n.Parameters[0].Value.(json.Number)
	return v.String()
}
