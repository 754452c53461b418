package feed

import scala.collection.mutable
import scala.concurrent.{ExecutionContext, Future}

trait Journal[E] {
  protected def write(entry: E): Unit

  def append(entry: E): this.type = {
    write(entry)
    this
  }

  def entries: Seq[E]
}

trait Counting extends Journal[Event] {
  private var count = 0

  abstract override protected def write(entry: Event): Unit = {
    increment()
    super.write(entry)
  }

  private def increment(): Unit = count += 1

  def total(): Int = count
}

class MemoryJournal extends Journal[Event] {
  private val buffer = mutable.ListBuffer.empty[Event]
  private val byId = mutable.Map[Id, List[Moved]]().withDefaultValue(Nil)

  protected def write(entry: Event): Unit = {
    buffer += entry
    entry match {
      case moved: Moved => index(moved)
      case _ => ()
    }
  }

  private def index(moved: Moved): Unit = byId(moved.id) = moved :: byId(moved.id)

  override def entries: Seq[Event] = buffer.toList

  def travelled(id: Id): Int = byId(id).map(_.distance()).sum

  def longest(id: Id): Option[Moved] = byId(id).sortBy(moved => moved.distance()).lastOption
}

class Service(journal: MemoryJournal with Counting)(implicit ec: ExecutionContext) {
  import Service._

  def move(id: Id, to: String): Future[Moved] = for {
    last <- lastPosition(id)
    moved = Moved(id, last, Position(to))
    _ <- record(moved)
  } yield moved

  private def lastPosition(id: Id): Future[Position] =
    Future(journal.longest(id).map(_.to).fold(Position.Zero)(_ + Position(1)))

  private def record(event: Event): Future[Unit] = Future {
    if (!event.id.isInternal) journal.append(event).total()
    logger.info(event.describe)
  }

  def report(): Seq[String] = journal.entries.collect {
    case moved: Moved if moved.distance() > 1 => moved.describe
    case Created(id, User(name)) => id.prefixed(name)
  }
}

object Service {
  private val logger = new Logger("service")

  def create()(implicit ec: ExecutionContext): Service = new Service(new MemoryJournal with Counting)
}

class Logger(name: String) {
  def info(text: => String): Unit = println(text)
}
