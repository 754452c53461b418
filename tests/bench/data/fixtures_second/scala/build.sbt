name := "feed"
scalaVersion := "2.13.12"
