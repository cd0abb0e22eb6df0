package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

func TestPositionDeletesShowTheRowsTheyKeep(t *testing.T) {
	m := makeTable(t, idAndName+`,{"id":3,"name":"l","required":false,"type":{"type":"list","element-id":4,"element":"long","element-required":false}},
		{"id":5,"name":"later","required":false,"type":"int"}`)
	list := withID(3, "l", arrow.ListOfField(withID(4, "element", int64Type)))
	m.commit(madeFile{fields: append(idAndNameFields[:2:2], list), rows: `[{"id":1,"s":"x","l":[1]},{"id":2,"s":"y","l":[]},{"id":3,"s":null,"l":null}]`})
	path := withID(idDeletePath, "file_path", textType)
	pos := withID(idDeletePos, "pos", int64Type)
	row := withID(idDeleteRow, "row", arrow.StructOf(list, idAndNameFields[1], idAndNameFields[0]))
	at := m.location("00001.parquet")
	m.commit(madeFile{positions: true, fields: []arrow.Field{path, pos, row},
		rows: fmt.Sprintf(`[{"file_path":%[1]q,"pos":2,"row":{"id":3,"s":null,"l":null}},{"file_path":%[1]q,"pos":0,"row":{"id":1,"s":"x","l":[1,null]}}]`, at)},
		madeFile{positions: true, fields: []arrow.Field{path, pos}, rows: fmt.Sprintf(`[{"file_path":%q,"pos":7}]`, at)})
	m.want("id", `[2]`)
	source, _, err := m.open().MetadataSource(t.Context(), "position_deletes", Reference{})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := readAll(t.Context(), source, Request{Fields: []int{m.idOf(source, "pos"), m.idOf(source, "row")}, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	got := strings.Join(rowsOf(batch), " ")
	if want := `["0",[1,"x",["1",null],null]] ["2",[3,null,null,null]] ["7",null]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
