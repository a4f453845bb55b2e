"""MOBI and AZW3 without DRM."""
