package feed

import feed.{Service => Feed}
import scala.concurrent.ExecutionContext.Implicits.global

object Main extends App {
  val service = Feed.create()
  val user = User("ada")
  service.move("a", "1,2").foreach(show)
  service.move("b", "3,4").map(_.distance())
  user.boss().managerName()
  val start = Position("0,1") + Position.Zero
  show(Moved("c", start, Position(2)))
  service.report().foreach(println)

  def show(event: Event): Unit = println(event.describe)
}
