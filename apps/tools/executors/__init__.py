"""How tools are carried out. Only `apps.tools.invoke` comes in here; policy is decided before."""
