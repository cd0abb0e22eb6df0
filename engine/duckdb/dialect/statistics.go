package dialect

import "slices"

// statistics are the aggregates of moments, of one argument and of pairs, by Spark's names: each is one of ours, of doubles.
var statistics = map[int]map[string]string{
	1: {"var_pop": "var_pop", "var_samp": "var_samp", "variance": "var_samp", "stddev_pop": "stddev_pop", "stddev_samp": "stddev_samp", "stddev": "stddev_samp", "std": "stddev_samp",
		"skewness": "skewness", "kurtosis": "kurtosis"},
	2: {"covar_pop": "covar_pop", "covar_samp": "covar_samp", "corr": "corr", "regr_slope": "regr_slope", "regr_intercept": "regr_intercept", "regr_r2": "regr_r2", "regr_avgx": "regr_avgx",
		"regr_avgy": "regr_avgy", "regr_sxx": "regr_sxx", "regr_syy": "regr_syy", "regr_sxy": "regr_sxy"},
}

// Statistics are the names of our aggregates.
func Statistics() (out []string) {
	for _, names := range statistics {
		for _, name := range names {
			out = append(out, "skua_"+name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// statistic gives how an aggregate of moments is written; false: the name is none.
func statistic(name string) (aggregation, bool) {
	if of := statistics[1][name]; of != "" {
		return aggregation{1, 1, "skua_" + of + "(CAST($1 AS DOUBLE))", "", ""}, true
	}
	of := statistics[2][name]
	return aggregation{2, 2, "skua_" + of + "(CAST($1 AS DOUBLE), CAST($2 AS DOUBLE))", "", ""}, of != ""
}

// numeric has the arguments of an aggregate that makes doubles of numbers refused where they are none.
func (r *rewriter) numeric(name string, args [][]piece, start int) {
	_, moments := statistic(name)
	if !r.Spark || r.failed != nil || !moments && name != "median" || r.unbound(start, r.next) {
		return
	}
	for i := range args {
		args[i] = r.capture(func() {
			r.put(&coercion{text: "$1", operands: [][]piece{args[i]}, asked: []int{0}, rule: numericRule(name)}, start+i, r.next)
		})
	}
}

// numericRule refuses what is no number, and no text that may be one.
func numericRule(name string) func(types []Type) (verdict, error) {
	return func(types []Type) (verdict, error) { return verdict{gives: types[0]}, summable(name, types[0]) }
}
