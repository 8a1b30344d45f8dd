"""Pages of the tools app in the workspace."""
