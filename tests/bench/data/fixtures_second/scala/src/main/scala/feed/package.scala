package object feed {
  type Id = String

  def normalize(id: Id): Id = id.trim

  implicit class IdOps(private val id: Id) extends AnyVal {
    def isInternal: Boolean = normalize(id).startsWith("_")
    def prefixed(prefix: String): Id = prefix + id
  }
}
