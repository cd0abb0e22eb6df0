"""Superset's configuration for the check: everything in one folder, nothing but loopback."""

import os

SECRET_KEY = os.environ["SKUA_SUPERSET_SECRET"]
SQLALCHEMY_DATABASE_URI = "sqlite:///" + os.path.join(os.environ["SUPERSET_HOME"], "superset.db")
TALISMAN_ENABLED = False  # no TLS on loopback
WTF_CSRF_TIME_LIMIT = None
