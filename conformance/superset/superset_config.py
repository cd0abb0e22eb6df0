"""Superset's configuration for the check: everything in one folder, nothing but loopback."""

import os

SECRET_KEY = os.environ["SKUA_SUPERSET_SECRET"]
SQLALCHEMY_DATABASE_URI = "sqlite:///" + os.path.join(os.environ["SUPERSET_HOME"], "superset.db")
TALISMAN_ENABLED = False  # no TLS on loopback
WTF_CSRF_TIME_LIMIT = None

# Superset has no dialect of its own for this driver, and so no time grains: these are.
TIME_GRAIN_ADDON_EXPRESSIONS = {
    "base": {
        "PT1S": "date_trunc('second', {col})",
        "PT1M": "date_trunc('minute', {col})",
        "PT1H": "date_trunc('hour', {col})",
        "P1D": "date_trunc('day', {col})",
        "P1W": "date_trunc('week', {col})",
        "P1M": "date_trunc('month', {col})",
        "P3M": "date_trunc('quarter', {col})",
        "P1Y": "date_trunc('year', {col})",
    }
}
