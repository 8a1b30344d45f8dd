"""The workspace: shell, dashboard and command palette that every app's pages move into."""
