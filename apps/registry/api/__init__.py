"""The registry's door for programs, and the foundations that every app's API stands on."""
