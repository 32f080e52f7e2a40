"""The parts of Tenure's dashboards: Grafana panels, in rows, on a page.

A query is a pair of its legend and its PromQL, where `@` stands for the labels that select the
dashboard's series. All functions return plain values, as they appear in Grafana's JSON.
"""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
INSTALLATION = 'namespace="$namespace", job="$job"'
ALL = ".*"
# An empty seat may be right: nobody wants it. Empty seats with waiting candidates are counted
# separately.
STATES = {"0": ("semi-dark-orange", "no leader"), "1": ("green", "led")}


# --- PromQL ---


def total(metric, by=""):
    """The rate of a counter per second, summed over the replicas."""
    return f"sum by ({by}) (rate({metric}{{@}}[$__rate_interval]))"


def per_minute(metric, by=""):
    return f"60 * {total(metric, by)}"


def quantile(share, metric, by="", matching=""):
    """The value below which this share of a histogram's observations stayed."""
    by = ", ".join(filter(None, ["le", by]))
    labels = ", ".join(filter(None, ["@", matching]))
    rate = f"sum by ({by}) (rate({metric}_bucket{{{labels}}}[$__rate_interval]))"
    return f"histogram_quantile({share}, {rate})"


# --- Panels ---


def time_series(title, description, unit, *queries, stacked=False, steps=False, top=None):
    """Lines over time; `top` is the upper end of the axis."""
    custom = {
        "fillOpacity": 25 if stacked else 5,
        "lineInterpolation": "stepAfter" if steps else "linear",
        "showPoints": "auto",
        "stacking": {"mode": "normal" if stacked else "none"},
    }
    options = {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    limits = {"min": 0} if top is None else {"min": 0, "max": top}
    defaults = {"unit": unit, "custom": custom, **limits}
    return _panel("timeseries", title, description, queries, defaults, options, height=8)


def stat(title, description, unit, query, bad_above=None, bad_below=None):
    """The latest value as a number, in red beyond a bound."""
    if bad_below is not None:
        steps = [{"color": "red", "value": None}, {"color": "green", "value": bad_below}]
    elif bad_above is not None:
        steps = [{"color": "green", "value": None}, {"color": "red", "value": bad_above}]
    else:
        steps = [{"color": "text", "value": None}]
    decimals = {"decimals": 0} if unit == "none" else {}
    thresholds = {"mode": "absolute", "steps": steps}
    defaults = {"unit": unit, "thresholds": thresholds, **decimals}
    options = {
        "colorMode": "value",
        "graphMode": "none",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    }
    queries = [("", query)]
    return _panel("stat", title, description, queries, defaults, options, height=4, instant=True)


def states(title, description, query, names):
    """States over time: `names` gives each value a colour and a name."""
    values = {
        value: {"color": color, "index": index, "text": text}
        for index, (value, (color, text)) in enumerate(names.items())
    }
    defaults = {"mappings": [{"type": "value", "options": values}], "custom": {"fillOpacity": 70}}
    options = {"mergeValues": True, "showValue": "never", "rowHeight": 0.8}
    return _panel("state-timeline", title, description, [query], defaults, options, height=8)


def table(title, description, *queries):
    """One row for each set of labels; the legends are the headings of the values."""
    names = {f"Value #{_letter(index)}": legend for index, (legend, _) in enumerate(queries)}
    panel = _panel("table", title, description, queries, {}, {}, height=8, instant=True)
    for target in panel["targets"]:
        target["format"] = "table"
    panel["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": names}},
    ]
    return panel


def text(title, description, content):
    return {
        "type": "text",
        "title": title,
        "description": description,
        "gridPos": {"h": 8},
        "options": {"mode": "markdown", "content": content},
    }


def _letter(index):
    return chr(ord("A") + index)


def _panel(kind, title, description, queries, defaults, options, height, instant=False):
    targets = [
        {
            "refId": _letter(index),
            "datasource": SOURCE,
            "expr": expression,
            "legendFormat": legend,
            "instant": instant,
            "range": not instant,
        }
        for index, (legend, expression) in enumerate(queries)
    ]
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": SOURCE,
        "gridPos": {"h": height},
        "targets": targets,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
    }


# --- Pages ---


def variable(name, label, values, many=False):
    """A variable with one or several values of a label."""
    choice = {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": SOURCE,
        "definition": values,
        "query": {"query": values, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": many,
        "includeAll": many,
    }
    if many:
        choice |= {"allValue": ALL, "current": {"text": ["All"], "value": ["$__all"]}}
    return choice


def dashboard(name, title, description, rows, variables=(), scope=INSTALLATION):
    """A page of rows, with panels of equal width; `scope` replaces @ in queries."""
    panels = []
    top = 0
    for heading, members in rows:
        panels.append(
            {
                "type": "row",
                "title": heading,
                "collapsed": False,
                "panels": [],
                "gridPos": {"x": 0, "y": top, "w": 24, "h": 1},
            }
        )
        top += 1
        for column, panel in enumerate(members):
            left, right = (24 * edge // len(members) for edge in (column, column + 1))
            panel["gridPos"] |= {"x": left, "y": top, "w": right - left}
            for target in panel.get("targets", []):
                target["expr"] = target["expr"].replace("@", scope)
            panels.append(panel)
        top += max(panel["gridPos"]["h"] for panel in members)
    for number, panel in enumerate(panels, start=1):
        panel["id"] = number
    return {
        "uid": f"tenure-{name}",
        "title": f"Tenure: {title}",
        "description": description,
        "tags": ["tenure"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "30s",
        "links": [
            {
                "type": "dashboards",
                "title": "Tenure",
                "tags": ["tenure"],
                "keepTime": True,
                "includeVars": True,
            }
        ],
        "annotations": {"list": []},
        "templating": {
            "list": [
                {
                    "type": "datasource",
                    "name": "datasource",
                    "label": "Data source",
                    "query": "prometheus",
                },
                variable("namespace", "Namespace", "label_values(tenure_build_info, namespace)"),
                variable(
                    "job", "Job", 'label_values(tenure_build_info{namespace="$namespace"}, job)'
                ),
                *variables,
            ]
        },
        "panels": panels,
    }
