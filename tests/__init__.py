"""Tests of Omni; every requirement has one that carries its id."""
