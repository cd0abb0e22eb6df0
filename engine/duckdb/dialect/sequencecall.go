package dialect

// sequenceRule is for sequence: whole numbers by numbers, days and instants by intervals.
func sequenceRule(types []Type) (verdict, error) {
	out := verdict{text: "skua_whole_sequence(" + numbered(len(types)) + ")"}
	if types[0].Name == "" || types[1].Name == "" {
		return out, nil
	}
	a, ok := meeting(types[0], types[1])
	step := Type{Name: `"NULL"`, Text: `"NULL"`}
	if len(types) > 2 {
		step = types[2]
	}
	switch none := step.Name == `"NULL"`; {
	case ok && (isWhole(a) || a.Name == `"NULL"`) && (isWhole(step) || none):
		to, _ := meeting(a, step)
		out.gives = parseType(to.Text + "[]")
		out.text = "CAST(" + out.text + " AS " + to.Text + "[])"
	case ok && isDatetime(a) && (step.Name == "INTERVAL" || none):
		out.text, out.gives = timeSequence(a, len(types)), parseType(a.Text+"[]")
		out.casts = []string{a.Text, a.Text, ""}[:len(types)]
	default:
		return out, mismatch("sequence", "SEQUENCE_WRONG_INPUT_TYPES", "sequence takes whole numbers, or days and instants with intervals.")
	}
	return out, nil
}

func timeSequence(of Type, arguments int) string {
	text := "skua_time_sequence($1, $2, "
	if of.Name == "DATE" {
		text = "skua_day_sequence(CAST($1 AS TIMESTAMP), CAST($2 AS TIMESTAMP), "
	}
	if arguments == 2 {
		text += "CASE WHEN ($1) > ($2) THEN INTERVAL '-1 day' ELSE INTERVAL '1 day' END)"
	} else {
		text += "CAST($3 AS INTERVAL))"
	}
	return "CAST(" + text + " AS " + of.Text + "[])"
}
