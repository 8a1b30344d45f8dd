"""What comes with the platform: manifests and policies as files, and the code of the tools."""
