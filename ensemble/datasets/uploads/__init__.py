"""What people hand in on the page: archives opened safely, and images prepared on trial."""
