package feed

sealed trait Event {
  def id: Id
  def describe: String = s"$id ${Event.tag(this)}"
}

final case class Created(id: Id, by: User) extends Event

final case class Moved(id: Id, from: Position, to: Position) extends Event {
  def distance(): Int = from.distanceTo(to)

  override def describe: String = super.describe + distance()
}

object Event {
  def tag(event: Event): String = event match {
    case created: Created => created.by.shortName()
    case Moved(_, from, to) => from.render() + to.render()
  }

  implicit val ordering: Ordering[Event] = Ordering.by(_.id)
}

case class Position(x: Int, y: Int = 0) {
  def distanceTo(other: Position): Int = Position.abs(x - other.x) + Position.abs(y - other.y)

  def +(other: Position): Position = Position(x + other.x, y + other.y)

  def render(): String = s"($x,$y)"
}

object Position {
  val Zero: Position = Position(0)

  def apply(text: String): Position = parse(text).getOrElse(Zero)

  private def parse(text: String): Option[Position] = text.split(",") match {
    case Array(x, y) => Some(new Position(x.toInt, y.toInt))
    case _ => None
  }

  private def abs(value: Int): Int = if (value < 0) -value else value
}

class User(val name: String, manager: Option[User] = None) {
  def shortName(): String = name.take(3)

  def boss(): User = manager.map(_.boss()).getOrElse(this)

  def managerName(): String = manager match {
    case Some(user) => user.shortName()
    case None => ""
  }
}

object User {
  def apply(name: String): User = new User(name)

  def unapply(user: User): Option[String] = Some(user.shortName())
}
