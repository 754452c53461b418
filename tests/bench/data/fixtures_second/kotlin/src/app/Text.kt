@file:JvmName("Texts")

package app.text

fun String.ellipsize(max: Int): String = if (length <= max) this else cut(this, max)

private fun cut(text: String, max: Int) = text.take(max)

fun <T> Iterable<T>.joined(transform: (T) -> String): String = map(transform).joinToString()

class Printer(private val out: Appendable = StringBuilder()) {
    private var depth = 0

    fun line(text: String): Printer = apply {
        indent()
        out.append(text)
    }

    fun nested(block: Printer.() -> kotlin.Unit): Printer {
        depth++
        block()
        depth--
        return this
    }

    private fun indent() = repeat(depth) { out.append(' ') }
}

fun print(block: Printer.() -> kotlin.Unit): Printer = Printer().also(block)
