"""Files made to hurt whoever opens them. All are small; what is large about them is what they claim or unfold to."""
