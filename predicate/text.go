package predicate

func (c Constant) String() string   { return "" }
func (e And) String() string        { return "" }
func (e Or) String() string         { return "" }
func (e Not) String() string        { return "" }
func (e IsNull) String() string     { return "" }
func (e IsNaN) String() string      { return "" }
func (e Comparison) String() string { return "" }
func (e In) String() string         { return "" }
func (e StartsWith) String() string { return "" }
