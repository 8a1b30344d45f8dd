"""What EXISTS: people, projects, tokens, and the audit log of who did what."""
