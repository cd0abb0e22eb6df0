package ptxsim

type opcode uint8

const (
	opAdd opcode = iota
	opSub
	opMulLo
	opMulHi
	opMulWide
	opMadLo
	opMadHi
	opMadWide
	opDiv
	opRem
	opMin
	opMax
	opAbs
	opNeg
	opAnd
	opOr
	opXor
	opNot
	opShl
	opShr
	opShfL
	opShfR
	opPrmt
	opLop3
	opBfe
	opBfi
	opPopc
	opClz
	opBrev
	opBfind
	opMov
	opSelp
	opCvt
	opCvta
	opCvtaTo
	opSetp
	opPredAnd
	opPredOr
	opPredXor
	opPredNot
	opPredMov
	opPredConst
	opPack
	opUnpack
	opLd
	opSt
	opAtom
	opShfl
	opVote
	opActive
	opBar
	opBarWarp
	opFence
	opBra
	opBrx
	opRet
	opTrap
	opFma
)

// spaceKind is a state space.
type spaceKind uint8

const (
	spGeneric spaceKind = iota
	spGlobal
	spShared
	spLocal
	spParam
	spConst
)

// kind is what a type makes of its bits.
type kind uint8

const (
	kB kind = iota
	kU
	kS
	kF
)

// instr is a decoded instruction. Registers are indices into a warp's file; constants and special registers have places in it too.
type instr struct {
	op       opcode
	guard    int32 // predicate, or -1
	guardNot bool
	bits     uint8 // of the operation
	kind     kind
	dbits    uint8 // of the result's register
	sbits    uint8 // source of cvt
	skind    kind
	d, a, b  int32
	c        int32
	pd, pd2  int32 // predicate results, or -1
	pc       int32 // predicate operand, or -1
	pcNot    bool
	sp       spaceKind
	strong   bool // volatile, relaxed, acquire, release or atomic
	sub      string
	comb     string
	off      int64
	imm      uint32
	vec      []int32
	target   int32
	srcs     []int32 // registers read, for the check of unwritten ones
	psrc     []int32
	line     int
	text     string
	source   string // file and line, where the PTX says so
}

func typeOf(s string) (bits int, k kind, ok bool) {
	b := typeBits[s]
	if b == 0 {
		return 0, 0, false
	}
	switch s[0] {
	case 'u':
		k = kU
	case 's':
		k = kS
	case 'f':
		k = kF
	}
	return b, k, true
}
