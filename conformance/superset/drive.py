"""Uses Superset as a person would: logs in, connects to Skua, looks at its tables, runs queries, draws charts. Every step takes a picture and
compares what the page says with what the demo warehouse holds; a step that fails takes one too and ends the run. run.py starts it."""

import json
import os
import pathlib
import re
import sys

from playwright.sync_api import Error, expect, sync_playwright

BASE, PICTURES = os.environ["BASE"], pathlib.Path(os.environ["PICTURES"])
CATEGORIES = {"books": 68, "games": 74, "garden": 77, "kitchen": 76, "music": 77, "outdoor": 53, "toys": 75}
JUNE = {"Accra": 2432, "Graz": 2474, "Lima": 2499, "Osaka": 2393, "Oslo": 2417, "Porto": 2518, "Quito": 2493, "Turin": 2433}
SALES = {"sale_id": "BIGINT", "sold_on": "DATE", "customer_id": "INTEGER", "product_id": "INTEGER", "store_id": "INTEGER", "quantity": "INTEGER", "amount": "DECIMAL"}
DAYS = dict(zip(range(1, 13), (4144, 4166, 4189, 4154, 4191, 4192, 4149, 4165, 5000, 5000, 5000, 5000)))  # events by day of September
WEEKS = {"2025-09-01": 29185, "2025-09-08": 24165}
PAGES = {"/": 9975, "/account": 10064, "/cart": 10039, "/checkout": 9878, "/faq": 3268, "/search": 10126}
COSTLY = {124259: "2467.7", 124276: "2420", 124686: "2475.75", 124777: "2475.75", 124801: "2454", 124868: "2457.95"}

STEPS = []


def step(name):
    def keep(f):
        STEPS.append((name, f))
        return f
    return keep


def by(page, name):
    return page.locator(f'[data-test="{name}"]')


def choose(page, box, text):
    """Picks an entry of one of Superset's drop-down lists."""
    entry = page.locator(".ant-select-item-option:visible").get_by_text(text, exact=True).first
    for _ in range(5):  # a list that was opened before its entries came may close again
        page.locator(box).click()
        try:
            entry.click(timeout=10_000)
            return
        except Error:
            continue
    entry.click()


def shown(where):
    """The words of a part of the page, cell by cell."""
    return [line.strip() for line in where.inner_text().splitlines() if line.strip()]


def grid(where):
    """The rows of a result: AG Grid gives row numbers beside the cells, so cells are found by the row they are in."""
    rows = {}
    for cell in where.locator(".ag-center-cols-container [role=gridcell]").all():
        at = cell.evaluate("e => Number(e.closest('[role=row]').getAttribute('row-index'))")
        rows.setdefault(at, []).append(cell.inner_text().strip())
    return [rows[i] for i in sorted(rows)]


def run(page, sql):
    """Writes a statement into the editor of SQL Lab's tab that shows and runs it; gives the pane of results."""
    page.locator(".ace_content:visible").first.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(sql)
    page.keyboard.press("Escape")
    with page.expect_response(lambda r: "/api/v1/sqllab/execute" in r.url):
        by(page, "run-query-action").locator("visible=true").click()
    return by(page, "south-pane").locator("visible=true")


def rows_of(page, pane, sql, want):
    expect(pane).to_contain_text(f"{len(want)} rows")
    expect(pane.locator(".ag-center-cols-container [role=row]")).to_have_count(len(want))
    same(grid(pane), want, sql)


def same(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: got {got}, want {want}")


@step("login")
def _(page):
    page.goto(BASE + "/login/")
    by(page, "username-input").fill("admin")
    by(page, "password-input").fill(os.environ["ADMIN_PASSWORD"])
    by(page, "login-button").click()
    page.wait_for_url("**/superset/welcome/**")
    expect(by(page, "navbar-top")).to_contain_text("Datasets")


@step("connect")
def _(page):
    page.goto(BASE + "/databaseview/list/")
    by(page, "btn-create-database").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").click()
    page.locator(".ant-select-item-option").get_by_text("Other", exact=True).click()
    by(page, "database-name-input").fill("Skua")
    by(page, "sqlalchemy-uri-input").fill(os.environ["URI"])
    dialog.get_by_text("Test connection").click()
    expect(page.get_by_text("Connection looks good!")).to_be_visible()
    by(page, "btn-submit-connection").click()
    expect(page.get_by_text("Database connected")).to_be_visible()
    expect(by(page, "table-row").filter(has_text="Skua")).to_contain_text("datafusion")


def laboratory(page):
    """Opens a new tab of SQL Lab: one of before may come back unselected, and then shows no editor."""
    page.goto(BASE + "/sqllab/")
    page.get_by_role("tab", name="Add a new tab").or_(page.get_by_role("button", name="Add tab")).first.click()


@step("schemas-and-tables")
def _(page):
    laboratory(page)
    by(page, "DatabaseSelector").first.click()
    choose(page, "#select-schema", "shop")
    page.get_by_role("button", name="Select", exact=True).click()
    tree = page.get_by_role("treeitem")
    tree.get_by_text("shop", exact=True).click()
    expect(tree.get_by_text("sales", exact=True)).to_be_visible()
    same([i.inner_text().strip() for i in tree.all()], ["shop", "customers", "products", "sales", "stores", "web"], "schemas and tables")
    tree.get_by_text("sales", exact=True).click()
    expect(tree.get_by_text("sale_id", exact=True)).to_be_visible()
    columns = dict(words for words in map(shown, tree.all()) if len(words) == 2)
    same(columns, SALES, "columns of sales")


@step("query")
def _(page):
    sql = "SELECT sale_id, sold_on, quantity, amount FROM sales WHERE sold_on = DATE '2025-06-01' AND amount > 2400 ORDER BY sale_id"
    rows_of(page, run(page, sql), sql, [[str(i), "2025-06-01T00:00:00", "5", amount] for i, amount in COSTLY.items()])


@step("join")
def _(page):
    sql = ("-- sales of June by city\nSELECT st.city, count(*) AS sales\nFROM shop.sales AS s JOIN shop.stores AS st ON s.store_id = st.store_id\n"
           "WHERE s.sold_on >= '2025-06-01' AND s.sold_on < '2025-07-01'\nGROUP BY st.city\nORDER BY st.city")
    rows_of(page, run(page, sql), sql, [[city, str(n)] for city, n in JUNE.items()])


@step("error")
def _(page):
    pane = run(page, "SELECT *\nFROM shop.sails")
    expect(pane).to_contain_text("The table or view `shop`.`sails` cannot be found")


@step("after-the-error")
def _(page):
    rows_of(page, run(page, "SELECT 40 + 2 AS a, 'still here' AS b UNION ALL SELECT 1, 'x' ORDER BY a DESC"), "after an error", [["42", "still here"], ["1", "x"]])


@step("dataset")
def _(page):
    page.goto(BASE + "/dataset/add/")
    expect(by(page, "DatabaseSelector")).to_be_visible()
    choose(page, '[data-test="select-database"] input', "Skua")
    choose(page, "#select-schema", "shop")
    choose(page, "#select-table", "products")
    for name, kind in {"product_id": "INTEGER", "name": "TEXT", "category": "TEXT", "price": "DECIMAL"}.items():
        expect(page.get_by_role("row").filter(has=page.get_by_text(name, exact=True))).to_contain_text(kind)
    page.get_by_role("button", name="Create and explore dataset").click()
    page.wait_for_url("**/chart/add/**")


@step("bar-chart")
def _(page):
    by(page, "viztype-selector-container").filter(has_text="Bar Chart").first.click()
    page.get_by_role("button", name="Create new chart").click()
    drop(page, "category", "x_axis")
    drop(page, "COUNT(*)", "metrics")
    draw(page)
    chart = page.locator(".chart-container canvas, .slice_container canvas").first
    expect(chart).to_be_visible()
    page.wait_for_function(STILL, arg=chart.element_handle(), polling=300)
    drawn(page, [[c, str(n)] for c, n in CATEGORIES.items()])


@step("saved-chart")
def _(page):
    by(page, "query-save-button").click()
    by(page, "new-chart-name").fill("Products by category")
    by(page, "btn-modal-save").click()
    expect(page.get_by_text("Chart [Products by category] has been saved")).to_be_visible()
    page.goto(BASE + "/chart/list/")
    page.get_by_role("link", name="Products by category").first.click()
    chart = page.locator(".chart-container canvas, .slice_container canvas").first
    expect(chart).to_be_visible()
    expect(page.get_by_text("7 rows").first).to_be_visible()


@step("table-chart")
def _(page):
    by(page, "fast-viz-switcher").get_by_role("img", name="table").first.click()
    if not shown(by(page, "groupby")).count("category"):
        drop(page, "category", "groupby")
    if not shown(by(page, "metrics")).count("COUNT(*)"):
        drop(page, "COUNT(*)", "metrics")
    draw(page)
    rows = page.locator(".chart-container tbody tr:visible, .slice_container tbody tr:visible").filter(has=page.locator("td"))
    expect(rows.filter(has_text="outdoor").first).to_be_visible()
    found = {}
    for line in rows.all():  # the head that stays in place is a table of its own, with the same rows
        words = [c.inner_text().strip() for c in line.locator("td").all()]
        found[words[0]] = int(words[1])
    same(found, CATEGORIES, "the table")


@step("virtual-dataset")
def _(page):
    laboratory(page)
    pane = run(page, "SELECT event_id, ts, CAST(ts AS TIMESTAMP_NTZ) AS local_ts, page FROM web.events")
    expect(pane).to_contain_text("1k rows")
    page.get_by_role("button", name="Save dataset").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_placeholder("Dataset name").fill("Events")
    with page.context.expect_page() as opened:
        dialog.get_by_role("button", name="Save & Explore").click()
    chart = opened.value
    expect(by(chart, "datasource-control")).to_contain_text("Events")
    expect(by(chart, "DatasourcePanelDragOption")).to_have_text(["COUNT(*)", "ts", "local_ts", "event_id", "page"])
    chart.close()


@step("days-of-an-instant")
def _(page):
    explore(page, "Events", "line-chart")
    drop(page, "ts", "x_axis")
    drop(page, "COUNT(*)", "metrics")
    grained(page, "Day", [[f"2025-09-{day:02} 00:00:00", str(n)] for day, n in DAYS.items()])


@step("weeks-of-a-local-time")
def _(page):
    explore(page, "Events", "bar-chart")
    drop(page, "local_ts", "x_axis")
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()  # that filters of a dashboard may be by it
    drop(page, "COUNT(*)", "metrics")
    grained(page, "Week", [[f"{monday} 00:00:00", str(n)] for monday, n in WEEKS.items()])


@step("export")
def _(page):
    explore(page, "Events", "table")
    page.get_by_text("Aggregate", exact=True).first.click()
    drop(page, "page", "groupby")
    drop(page, "COUNT(*)", "metrics")
    draw(page)
    by(page, "actions-trigger").click()
    page.get_by_role("menuitem", name="Data Export Options").hover()
    page.get_by_role("menuitem", name="Export All Data").hover()
    with page.expect_download() as file:
        page.get_by_role("menuitem", name="Export to .CSV").click()
    lines = pathlib.Path(file.value.path()).read_text(encoding="utf-8-sig").split()
    same(lines[0], "page,COUNT(*)", "the file's head")
    same(dict(line.rsplit(",", 1) for line in lines[1:]), {p: str(n) for p, n in PAGES.items()}, "the file's rows")


@step("filter-of-a-dashboard")
def _(page):
    by(page, "query-save-button").click()
    by(page, "new-chart-name").fill("Events by page")
    by(page, "btn-modal-save").click()
    expect(page.get_by_text("Chart [Events by page] has been saved")).to_be_visible()
    page.goto(BASE + dashboard(page, "Visits", chart="Events by page", dataset="Events", column="page"))
    expect(page.locator(".chart-container tbody tr:visible").first).to_be_visible()
    same(first_words(page), list(PAGES), "the dashboard's table")
    page.get_by_role("combobox", name="NATIVE_FILTER-1").click(force=True)
    page.locator(".ant-select-item-option:visible").get_by_text("/cart", exact=True).first.click()
    page.keyboard.press("Escape")
    with page.expect_response(lambda r: "/api/v1/chart/data" in r.url):
        by(page, "filter-bar__apply-button").click()
    expect(page.locator(".chart-container")).not_to_contain_text("/faq")
    same(first_words(page), ["/cart"], "the filtered table")


def dashboard(page, title, chart, dataset, column):
    """Makes a dashboard of one chart and a filter by one column, as Superset's own interface for programs does; gives its path."""
    def known(kind, name, field):
        found = page.request.get(f"{BASE}/api/v1/{kind}/").json()["result"]
        return next(one["id"] for one in found if one[field] == name)

    def call(method, path, body):
        token = page.request.get(BASE + "/api/v1/security/csrf_token/").json()["result"]
        answer = page.request.fetch(BASE + path, method=method, data=body, headers={"X-CSRFToken": token, "Referer": BASE + "/"})
        if not answer.ok:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.text()[:300]}")
        return answer.json()

    number, parents = known("chart", chart, "slice_name"), ["ROOT_ID", "GRID_ID"]
    places = {"DASHBOARD_VERSION_KEY": "v2", "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
              "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": ["ROW-1"], "parents": ["ROOT_ID"]},
              "ROW-1": {"type": "ROW", "id": "ROW-1", "children": ["CHART-1"], "parents": parents, "meta": {"background": "BACKGROUND_TRANSPARENT"}},
              "CHART-1": {"type": "CHART", "id": "CHART-1", "children": [], "parents": parents + ["ROW-1"],
                          "meta": {"width": 6, "height": 60, "chartId": number, "sliceName": chart}}}
    choice = {"id": "NATIVE_FILTER-1", "name": column.capitalize(), "type": "NATIVE_FILTER", "filterType": "filter_select",
              "targets": [{"datasetId": known("dataset", dataset, "table_name"), "column": {"name": column}}], "cascadeParentIds": [],
              "controlValues": {"multiSelect": True, "enableEmptyFilter": False}, "defaultDataMask": {"extraFormData": {}, "filterState": {}},
              "scope": {"rootPath": ["ROOT_ID"], "excluded": []}}
    made = call("POST", "/api/v1/dashboard/", {"dashboard_title": title, "published": True, "position_json": json.dumps(places),
                                               "json_metadata": json.dumps({"native_filter_configuration": [choice]})})
    call("PUT", f"/api/v1/chart/{number}", {"dashboards": [made["id"]]})
    return f"/superset/dashboard/{made['id']}/"


def explore(page, dataset, kind):
    """Opens a dataset as a chart of a kind."""
    page.goto(BASE + "/tablemodelview/list/")
    page.get_by_role("link", name=dataset, exact=True).first.click()
    page.wait_for_url("**/explore/**")
    by(page, "fast-viz-switcher").get_by_role("img", name=kind).first.click()


def grained(page, grain, want):
    """Chooses how finely time is told apart, and draws."""
    page.get_by_role("combobox", name="Time Grain").click(force=True)  # what is chosen lies over it
    page.locator(".ant-select-item-option:visible").get_by_text(grain, exact=True).first.click()
    draw(page)
    chart = page.locator(".chart-container canvas, .slice_container canvas").first
    expect(chart).to_be_visible()
    drawn(page, want)


def drawn(page, want):
    """Compares the rows behind a chart. Their pane stays open from chart to chart, and a click on the tab of an open one closes it."""
    pane = by(page, "some-purposeful-instance")
    expect(pane.get_by_label(re.compile("^(Expand|Collapse) data panel$"))).to_be_visible()
    if pane.get_by_label("Expand data panel").count():
        pane.get_by_label("Expand data panel").click()
    rows_of(page, pane, "the chart's rows", want)


def first_words(page):
    """The first words of a table's rows, in order: the head that stays in place is a table of its own, with the same rows."""
    lines = page.locator(".chart-container tbody tr:visible").filter(has=page.locator("td")).all()
    return sorted({line.locator("td").first.inner_text().strip() for line in lines})


# Bars grow for a while: they are drawn once there is much of their colour, and no more of it than when this was last asked.
STILL = """e => {
  const p = e.getContext('2d').getImageData(0, 0, e.width, e.height).data, before = e.coloured; e.coloured = 0;
  for (let i = 0; i < p.length; i += 4) if (p[i+3] > 200 && Math.max(p[i], p[i+1], p[i+2]) - Math.min(p[i], p[i+1], p[i+2]) > 80) e.coloured++;
  return e.coloured >= 1000 && e.coloured === before }"""


def drop(page, name, control):
    """Drags a column or a metric into a control of the chart."""
    item = by(page, "DatasourcePanelDragOption").get_by_text(name, exact=True).first
    item.drag_to(page.locator(f'[data-test="{control}"] [data-test="dnd-labels-container"]'))
    expect(by(page, control)).to_contain_text(name)


def draw(page):
    with page.expect_response(lambda r: "/api/v1/chart/data" in r.url) as answer:
        by(page, "run-query-button").click()
    if answer.value.status != 200:
        raise AssertionError(f"the chart's query failed: {answer.value.text()[:500]}")


def main():
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.png"):
        old.unlink()
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=os.environ["BROWSER"], args=args)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        for number, (name, use) in enumerate(STEPS, 1):
            picture = PICTURES / f"{number:02}-{re.sub('[^a-z]+', '-', name)}.png"
            try:
                use(page)
            except (AssertionError, Error) as problem:
                page.screenshot(path=picture)
                print(f"FAIL {name}: {problem}\n     picture {picture}", flush=True)
                sys.exit(1)
            page.screenshot(path=picture)
            print(f"PASS {name}", flush=True)
    print(f"superset: {len(STEPS)} steps passed; pictures in {PICTURES}")


if __name__ == "__main__":
    main()
