// Sets the chosen theme before anything is painted; without a choice the system's holds.
document.documentElement.style.colorScheme = localStorage.getItem("jobgate-theme") ?? "";
