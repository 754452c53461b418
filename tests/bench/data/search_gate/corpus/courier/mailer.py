import smtplib
import time

ATTEMPTS = 4


def send_mail(address, subject, text):
    for attempt in range(ATTEMPTS):
        try:
            with smtplib.SMTP("localhost") as server:
                server.sendmail("tours@courier.example", address, f"Subject: {subject}\n\n{text}")
            return True
        except OSError:
            time.sleep(2**attempt)
    return False


def notify_driver(driver, tour):
    return send_mail(driver.address, "Your tour", "\n".join(map(str, tour)))


def warn_customer_of_delay(customer, minutes):
    return send_mail(customer.address, "Your parcel is late", f"It arrives {minutes} minutes later.")
