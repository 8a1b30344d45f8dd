"""`make bench`: ratios against a floor or a peer measured in the same run; never timed tests."""
